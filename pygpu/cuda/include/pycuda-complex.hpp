/* pycuda-complex.hpp - complex numbers in CUDA kernels: pycuda::complex<float>, pycuda::complex<double>.
 *
 * The layout is NumPy's: real part, imaginary part. Results for infinities and signed zeros follow C99, annex G, where that costs no
 * branch; division scales by the larger part (R. L. Smith, "Algorithm 116", CACM 5 (1962)), so that it does not overflow early. */
#ifndef PYGPU_PYCUDA_COMPLEX_HPP
#define PYGPU_PYCUDA_COMPLEX_HPP

extern "C++" {
namespace pycuda {

#define PYGPU_FN __device__ __host__ inline

template <class T> struct complex {
    typedef complex<T> _Self;
    typedef T value_type;

    T _M_re, _M_im; /* the names by which PyCUDA's programs know them */

    complex() = default;
    PYGPU_FN complex(const T &re) : _M_re(re), _M_im(T(0)) {}
    PYGPU_FN complex(const T &re, const T &im) : _M_re(re), _M_im(im) {}
    template <class U> PYGPU_FN complex(const complex<U> &z) : _M_re(T(z._M_re)), _M_im(T(z._M_im)) {}
    complex(const complex &) = default;
    complex &operator=(const complex &) = default;

    PYGPU_FN T real() const { return _M_re; }
    PYGPU_FN T imag() const { return _M_im; }
    PYGPU_FN T real() const volatile { return _M_re; }
    PYGPU_FN T imag() const volatile { return _M_im; }

    /* Shared memory is often declared volatile. */
    PYGPU_FN complex(const volatile complex &z) : _M_re(z._M_re), _M_im(z._M_im) {}
    PYGPU_FN volatile complex &operator=(const complex &z) volatile {
        _M_re = z._M_re;
        _M_im = z._M_im;
        return *this;
    }

    PYGPU_FN complex &operator=(const T &x) {
        _M_re = x;
        _M_im = T(0);
        return *this;
    }
    PYGPU_FN complex &operator+=(const T &x) { _M_re += x; return *this; }
    PYGPU_FN complex &operator-=(const T &x) { _M_re -= x; return *this; }
    PYGPU_FN complex &operator*=(const T &x) { _M_re *= x; _M_im *= x; return *this; }
    PYGPU_FN complex &operator/=(const T &x) { _M_re /= x; _M_im /= x; return *this; }
    template <class U> PYGPU_FN complex &operator+=(const complex<U> &z) { _M_re += T(z._M_re); _M_im += T(z._M_im); return *this; }
    template <class U> PYGPU_FN complex &operator-=(const complex<U> &z) { _M_re -= T(z._M_re); _M_im -= T(z._M_im); return *this; }
    template <class U> PYGPU_FN complex &operator*=(const complex<U> &z) { return *this = *this * complex(z); }
    template <class U> PYGPU_FN complex &operator/=(const complex<U> &z) { return *this = *this / complex(z); }

    /* Friends that are not templates themselves, so that 2 * z works with an int or a double beside complex<float>. */
    friend PYGPU_FN complex operator+(const complex &a, const complex &b) { return complex(a._M_re + b._M_re, a._M_im + b._M_im); }
    friend PYGPU_FN complex operator+(const complex &a, const T &b) { return complex(a._M_re + b, a._M_im); }
    friend PYGPU_FN complex operator+(const T &a, const complex &b) { return complex(a + b._M_re, b._M_im); }
    friend PYGPU_FN complex operator-(const complex &a, const complex &b) { return complex(a._M_re - b._M_re, a._M_im - b._M_im); }
    friend PYGPU_FN complex operator-(const complex &a, const T &b) { return complex(a._M_re - b, a._M_im); }
    friend PYGPU_FN complex operator-(const T &a, const complex &b) { return complex(a - b._M_re, -b._M_im); }
    friend PYGPU_FN complex operator*(const complex &a, const complex &b) {
        return complex(a._M_re * b._M_re - a._M_im * b._M_im, a._M_re * b._M_im + a._M_im * b._M_re);
    }
    friend PYGPU_FN complex operator*(const complex &a, const T &b) { return complex(a._M_re * b, a._M_im * b); }
    friend PYGPU_FN complex operator*(const T &a, const complex &b) { return complex(a * b._M_re, a * b._M_im); }
    friend PYGPU_FN complex operator/(const complex &a, const complex &b) {
        T re = b._M_re < T(0) ? -b._M_re : b._M_re, im = b._M_im < T(0) ? -b._M_im : b._M_im;
        if (re >= im) {
            if (im == T(0)) { /* also 0 / 0 and x / inf, as for real numbers */
                return complex(a._M_re / b._M_re, a._M_im / b._M_re);
            }
            T ratio = b._M_im / b._M_re, scale = b._M_re + b._M_im * ratio;
            return complex((a._M_re + a._M_im * ratio) / scale, (a._M_im - a._M_re * ratio) / scale);
        }
        T ratio = b._M_re / b._M_im, scale = b._M_re * ratio + b._M_im;
        return complex((a._M_re * ratio + a._M_im) / scale, (a._M_im * ratio - a._M_re) / scale);
    }
    friend PYGPU_FN complex operator/(const complex &a, const T &b) { return complex(a._M_re / b, a._M_im / b); }
    friend PYGPU_FN complex operator/(const T &a, const complex &b) { return complex(a) / b; }
    friend PYGPU_FN complex operator+(const complex &a) { return a; }
    friend PYGPU_FN complex operator-(const complex &a) { return complex(-a._M_re, -a._M_im); }
    friend PYGPU_FN bool operator==(const complex &a, const complex &b) { return a._M_re == b._M_re && a._M_im == b._M_im; }
    friend PYGPU_FN bool operator==(const complex &a, const T &b) { return a._M_re == b && a._M_im == T(0); }
    friend PYGPU_FN bool operator==(const T &a, const complex &b) { return b == a; }
    friend PYGPU_FN bool operator!=(const complex &a, const complex &b) { return !(a == b); }
    friend PYGPU_FN bool operator!=(const complex &a, const T &b) { return !(a == b); }
    friend PYGPU_FN bool operator!=(const T &a, const complex &b) { return !(b == a); }
};

template <class T> PYGPU_FN T real(const complex<T> &z) { return z._M_re; }
template <class T> PYGPU_FN T imag(const complex<T> &z) { return z._M_im; }
template <class T> PYGPU_FN T norm(const complex<T> &z) { return z._M_re * z._M_re + z._M_im * z._M_im; }
template <class T> PYGPU_FN complex<T> conj(const complex<T> &z) { return complex<T>(z._M_re, -z._M_im); }
template <class T> PYGPU_FN T abs(const complex<T> &z) { return ::hypot(z._M_re, z._M_im); }
template <class T> PYGPU_FN T arg(const complex<T> &z) { return ::atan2(z._M_im, z._M_re); }
template <class T> PYGPU_FN complex<T> polar(const T &rho) { return complex<T>(rho, T(0)); }
template <class T> PYGPU_FN complex<T> polar(const T &rho, const T &phi) { return complex<T>(rho * ::cos(phi), rho * ::sin(phi)); }

template <class T> PYGPU_FN complex<T> exp(const complex<T> &z) {
    T scale = ::exp(z._M_re);
    return z._M_im == T(0) ? complex<T>(scale, z._M_im) : complex<T>(scale * ::cos(z._M_im), scale * ::sin(z._M_im));
}
template <class T> PYGPU_FN complex<T> log(const complex<T> &z) { return complex<T>(::log(abs(z)), arg(z)); }
template <class T> PYGPU_FN complex<T> log10(const complex<T> &z) {
    const T factor = T(0.43429448190325182765); /* 1 / ln 10 */
    return complex<T>(::log10(abs(z)), arg(z) * factor);
}
/* W. Kahan, "Branch cuts for complex elementary functions" (1987), without its rescaling. */
template <class T> PYGPU_FN complex<T> sqrt(const complex<T> &z) {
    T re = z._M_re, im = z._M_im;
    if (re == T(0) && im == T(0)) {
        return complex<T>(T(0), im);
    }
    T root = ::sqrt((::fabs(re) + abs(z)) / T(2)), other = ::fabs(im) / (T(2) * root);
    return re >= T(0) ? complex<T>(root, ::copysign(other, im)) : complex<T>(other, ::copysign(root, im));
}
template <class T> PYGPU_FN complex<T> sinh(const complex<T> &z) {
    return complex<T>(::sinh(z._M_re) * ::cos(z._M_im), ::cosh(z._M_re) * ::sin(z._M_im));
}
template <class T> PYGPU_FN complex<T> cosh(const complex<T> &z) {
    return complex<T>(::cosh(z._M_re) * ::cos(z._M_im), ::sinh(z._M_re) * ::sin(z._M_im));
}
/* With t = tan y, s = sinh x: (s cosh x (1 + t^2) + i t) / (1 + (1 + t^2) s^2), the same paper. */
template <class T> PYGPU_FN complex<T> tanh(const complex<T> &z) {
    if (::fabs(z._M_re) > T(22)) { /* beyond the last bit of a double */
        return complex<T>(::copysign(T(1), z._M_re), ::copysign(T(0), ::sin(T(2) * z._M_im)));
    }
    T t = ::tan(z._M_im), beta = T(1) + t * t, s = ::sinh(z._M_re), rho = ::sqrt(T(1) + s * s), scale = T(1) + beta * s * s;
    return complex<T>(beta * rho * s / scale, t / scale);
}
template <class T> PYGPU_FN complex<T> sin(const complex<T> &z) {
    return complex<T>(::sin(z._M_re) * ::cosh(z._M_im), ::cos(z._M_re) * ::sinh(z._M_im));
}
template <class T> PYGPU_FN complex<T> cos(const complex<T> &z) {
    return complex<T>(::cos(z._M_re) * ::cosh(z._M_im), -(::sin(z._M_re) * ::sinh(z._M_im)));
}
template <class T> PYGPU_FN complex<T> tan(const complex<T> &z) {
    complex<T> w = tanh(complex<T>(-z._M_im, z._M_re)); /* tan z = -i tanh(iz) */
    return complex<T>(w._M_im, -w._M_re);
}
template <class T> PYGPU_FN complex<T> asinh(const complex<T> &z) {
    complex<T> a = sqrt(complex<T>(T(1) + z._M_im, -z._M_re)), b = sqrt(complex<T>(T(1) - z._M_im, z._M_re));
    return complex<T>(::asinh(a._M_re * b._M_im - a._M_im * b._M_re), ::atan2(z._M_im, (a * b)._M_re));
}
template <class T> PYGPU_FN complex<T> asin(const complex<T> &z) {
    complex<T> w = asinh(complex<T>(-z._M_im, z._M_re)); /* asin z = -i asinh(iz) */
    return complex<T>(w._M_im, -w._M_re);
}
template <class T> PYGPU_FN complex<T> acos(const complex<T> &z) {
    complex<T> a = sqrt(complex<T>(T(1) - z._M_re, -z._M_im)), b = sqrt(complex<T>(T(1) + z._M_re, z._M_im));
    return complex<T>(T(2) * ::atan2(a._M_re, b._M_re), ::asinh(b._M_re * a._M_im - b._M_im * a._M_re));
}
template <class T> PYGPU_FN complex<T> atan(const complex<T> &z) {
    complex<T> i(T(0), T(1));
    return (log(T(1) - i * z) - log(T(1) + i * z)) * i / T(2);
}

template <class T> PYGPU_FN complex<T> pow(const complex<T> &z, int n) {
    unsigned int k = n < 0 ? 0u - (unsigned int)n : (unsigned int)n;
    complex<T> result(T(1)), square = z;
    for (; k != 0; k >>= 1) {
        if (k & 1u) {
            result *= square;
        }
        square *= square;
    }
    return n < 0 ? T(1) / result : result;
}
template <class T> PYGPU_FN complex<T> pow(const complex<T> &z, const complex<T> &w) {
    if (z == T(0)) {
        return w == T(0) ? complex<T>(T(1)) : complex<T>(T(0));
    }
    return exp(w * log(z));
}
template <class T> PYGPU_FN complex<T> pow(const complex<T> &z, const T &x) { return pow(z, complex<T>(x)); }
template <class T> PYGPU_FN complex<T> pow(const T &x, const complex<T> &w) { return pow(complex<T>(x), w); }

template <class T> PYGPU_FN bool isnan(const complex<T> &z) { return z._M_re != z._M_re || z._M_im != z._M_im; }

#undef PYGPU_FN

} /* namespace pycuda */
} /* extern "C++" */

#endif
