"""Distribution functions, their complements and inverses, and what else statistics counts with.

They are the incomplete gamma and beta functions of other arguments. kolmogorov: the theta series
for large and, by Jacobi's identity, for small arguments (G. Marsaglia, W. W. Tsang, J. Wang, 2003).
"""

from __future__ import annotations

TEXT = r"""
REAL sp_chdtr(REAL v, REAL x)
{
    return x < 0.0 ? NAN_ : sp_gammainc(0.5 * v, 0.5 * x);
}

REAL sp_chdtrc(REAL v, REAL x)
{
    return x < 0.0 ? NAN_ : sp_gammaincc(0.5 * v, 0.5 * x);
}

REAL sp_chdtri(REAL v, REAL y)
{
    return 2.0 * sp_gammainccinv(0.5 * v, y);
}

REAL sp_gdtr(REAL a, REAL b, REAL x)
{
    return x < 0.0 ? NAN_ : sp_gammainc(b, a * x);
}

REAL sp_gdtrc(REAL a, REAL b, REAL x)
{
    return x < 0.0 ? NAN_ : sp_gammaincc(b, a * x);
}

REAL sp_gdtrix(REAL a, REAL b, REAL p)
{
    return sp_gammaincinv(b, p) / a;
}

REAL sp_pdtr(REAL k, REAL m)
{
    if (isnan(k) || isnan(m) || k < 0.0 || m < 0.0)
        return NAN_;
    return m == 0.0 ? 1.0 : sp_gammaincc(floor(k) + 1.0, m);
}

REAL sp_pdtrc(REAL k, REAL m)
{
    if (isnan(k) || isnan(m) || k < 0.0 || m < 0.0)
        return NAN_;
    return m == 0.0 ? 0.0 : sp_gammainc(floor(k) + 1.0, m);
}

REAL sp_pdtri(REAL k, REAL y)
{
    return k < 0.0 || !(y >= 0.0 && y < 1.0) ? NAN_ : sp_gammainccinv(floor(k) + 1.0, y);
}

/* that k and n are counts with 0 <= k <= n, and p is a probability */
int sp_of_trials(REAL k, REAL n, REAL p)
{
    return k >= 0.0 && k <= n && n < INF && p >= 0.0 && p <= 1.0;
}

REAL sp_bdtr(REAL k, REAL n, REAL p)
{
    k = floor(k);
    if (!sp_of_trials(k, n, p))
        return NAN_;
    return k == n ? 1.0 : k == 0.0 ? exp(n * log1p(-p)) : sp_betaincc(k + 1.0, n - k, p);
}

REAL sp_bdtrc(REAL k, REAL n, REAL p)
{
    k = floor(k);
    if (k < 0.0 && p >= 0.0 && p <= 1.0)
        return 1.0;
    if (!sp_of_trials(k, n, p))
        return NAN_;
    return k == n ? 0.0 : k == 0.0 ? -expm1(n * log1p(-p)) : sp_betainc(k + 1.0, n - k, p);
}

REAL sp_bdtri(REAL k, REAL n, REAL y)
{
    k = floor(k);
    if (!sp_of_trials(k, n, y) || k == n)
        return NAN_;
    return k == 0.0 ? -expm1(log(y) / n) : sp_betainccinv(k + 1.0, n - k, y);
}

REAL sp_nbdtr(REAL k, REAL n, REAL p)
{
    return k >= 0.0 && p >= 0.0 && p <= 1.0 ? sp_betainc(n, floor(k) + 1.0, p) : NAN_;
}

REAL sp_nbdtrc(REAL k, REAL n, REAL p)
{
    return k >= 0.0 && p >= 0.0 && p <= 1.0 ? sp_betaincc(n, floor(k) + 1.0, p) : NAN_;
}

REAL sp_nbdtri(REAL k, REAL n, REAL y)
{
    return k >= 0.0 && y >= 0.0 && y <= 1.0 ? sp_betaincinv(n, floor(k) + 1.0, y) : NAN_;
}

REAL sp_fdtr(REAL a, REAL b, REAL x)
{
    REAL w = a * x;
    if (!(a > 0.0 && b > 0.0 && x >= 0.0))
        return NAN_;
    if (w == INF)
        return 1.0;
    if (w < b)
        return sp_betainc(0.5 * a, 0.5 * b, w / (b + w));
    return sp_betaincc(0.5 * b, 0.5 * a, b / (b + w));
}

REAL sp_fdtrc(REAL a, REAL b, REAL x)
{
    REAL w = a * x;
    if (!(a > 0.0 && b > 0.0 && x >= 0.0))
        return NAN_;
    if (w == INF)
        return 0.0;
    if (w < b)
        return sp_betaincc(0.5 * a, 0.5 * b, w / (b + w));
    return sp_betainc(0.5 * b, 0.5 * a, b / (b + w));
}

REAL sp_fdtri(REAL a, REAL b, REAL p)
{
    REAL w;
    if (!(a > 0.0 && b > 0.0 && p >= 0.0 && p <= 1.0))
        return NAN_;
    w = sp_betaincinv(0.5 * a, 0.5 * b, p);
    if (w <= 0.5)
        return b * w / (a * (1.0 - w));
    w = sp_betainccinv(0.5 * b, 0.5 * a, p);
    return b * (1.0 - w) / (a * w);
}

/* the probability of a t below -|t| */
REAL sp_t_tail(REAL df, REAL t)
{
    REAL square = t * t;
    if (square < df)
        return 0.5 * sp_betaincc(0.5, 0.5 * df, square / (df + square));
    if (square == INF)
        return fabs(t) < INF ? 0.5 * sp_betainc(0.5 * df, 0.5, df / t / t) : 0.0;
    return 0.5 * sp_betainc(0.5 * df, 0.5, df / (df + square));
}

REAL sp_stdtr(REAL df, REAL t)
{
    REAL tail;
    if (isnan(t) || !(df > 0.0))
        return NAN_;
    if (df > 1e15)
        return sp_ndtr(t);
    tail = sp_t_tail(df, t);
    return t < 0.0 ? tail : 1.0 - tail;
}

REAL sp_stdtrit(REAL df, REAL p)
{
    REAL q = p < 0.5 ? p : 1.0 - p, w, t;
    if (!(df > 0.0 && p >= 0.0 && p <= 1.0))
        return NAN_;
    if (df > 1e15)
        return sp_ndtri(p);
    if (q == 0.0) {
        t = INF;
    } else {
        w = sp_betaincinv(0.5 * df, 0.5, 2.0 * q);
        t = sqrt(df * (1.0 - w) / w);
        if (w > 0.5) {
            w = sp_betaincinv(0.5, 0.5 * df, 1.0 - 2.0 * q);
            t = sqrt(df * w / (1.0 - w));
        }
    }
    return p < 0.5 ? -t : t;
}

/* log(ndtr(x)) = y solved by Newton's steps, where ndtri(exp(y)) would lose digits */
REAL sp_ndtri_exp(REAL y)
{
    REAL x;
    if (!(y <= 0.0) || y == -INF)
        return y == -INF ? y : NAN_;
    if (y > -0.01)
        return -sp_ndtri(-expm1(y));
    if (y > -2.0)
        return sp_ndtri(exp(y));
    if (y < -1e300 / 1.0)
        return -sqrt(2.0) * sqrt(-y);
    x = -sqrt(-2.0 * (y + 0.91893853320467274178));
    if (y < -10.0)
        x = -sqrt(-2.0 * (y + 0.91893853320467274178 + log(-x)));
    for (int k = 0; k < 6; k++) {
        REAL now = sp_log_ndtr(x), slope = exp(-0.5 * x * x - 0.91893853320467274178 - now), step;
        if (x < -30.0) /* the hazard of a normal number, whose parts would underflow */
            slope = -x / (1.0 - 1.0 / (x * x) * (1.0 - 3.0 / (x * x) * (1.0 - 5.0 / (x * x))));
        step = (now - y) / slope;
        x -= step;
        if (fabs(step) <= EPS * fabs(x))
            break;
    }
    return x;
}

REAL sp_kolmogorov(REAL x)
{
    REAL sum = 0.0;
    if (!(x > 0.0))
        return isnan(x) ? x : 1.0;
    if (x < 0.8) {
        REAL t = exp(-1.2337005501361698274 / (x * x)), t8 = pow(t, 8.0);
        sum = t * (1.0 + t8 * (1.0 + t8 * t8 * (1.0 + t8 * t8 * t8)));
        return 1.0 - 2.5066282746310005024 / x * sum;
    }
    for (int k = 6; k > 0; k--)
        sum = exp(-2.0 * x * x * (k * k)) - sum;
    return 2.0 * sum;
}

REAL sp_agm(REAL a, REAL b)
{
    REAL s = a < 0.0 ? -1.0 : 1.0;
    if ((a < 0.0 && b > 0.0) || (a > 0.0 && b < 0.0) || isnan(a) || isnan(b))
        return NAN_;
    if (((a == 0.0) && isinf(b)) || (isinf(a) && b == 0.0))
        return NAN_;
    if (a == 0.0 || b == 0.0)
        return 0.0;
    if (a == b || isinf(a) || isinf(b))
        return isinf(b) ? b : a;
    a = fabs(a);
    b = fabs(b);
    for (int k = 0; k < 40 && fabs(a - b) > EPS * a; k++) {
        REAL mean = 0.5 * a + 0.5 * b;
        b = sqrt(a) * sqrt(b);
        a = mean;
    }
    return s * (0.5 * a + 0.5 * b);
}

/* x**y - 1 */
REAL sp_powm1(REAL x, REAL y)
{
    REAL s;
    if (x > 0.0) {
        s = y * log(x);
        if (fabs(s) < 0.5)
            return expm1(s);
    }
    return x < 0.0 && isinf(y) ? NAN_ : pow(x, y) - 1.0;
}

REAL sp_binom(REAL n, REAL k)
{
    REAL whole = floor(k), product = 1.0;
    if (isnan(n) || isnan(k) || (n < 0.0 && n == floor(n)))
        return NAN_;
    if (k == whole) {
        REAL m = whole;
        if (n == floor(n) && n > 0.0 && m > 0.5 * n)
            m = n - m;
        if (m >= 0.0 && m < 20.0) {
            REAL below = 1.0;
            for (int i = 1; i <= (int)m; i++) {
                product *= n - (i - 1);
                below *= i;
                if (fabs(product) > 1e50) {
                    product /= below;
                    below = 1.0;
                }
            }
            return product / below;
        }
    }
    if (n >= 1e10 * k && k > 0.0)
        return exp(-sp_betaln(1.0 + n - k, 1.0 + k) - log(n + 1.0));
    if (k == whole && (k < 0.0 || (n == floor(n) && k > n)))
        return 0.0;
    return 1.0 / ((n + 1.0) * sp_beta(1.0 + n - k, 1.0 + k));
}

/* gamma(a + m) / gamma(a), Pochhammer's symbol */
REAL sp_poch(REAL a, REAL m)
{
    REAL product = 1.0, sum = a + m;
    if (m == 0.0)
        return 1.0;
    if (isnan(m) && a <= 0.0 && a == floor(a))
        return 0.0;
    if (isnan(a) || isnan(m))
        return NAN_;
    if (m == floor(m) && fabs(m) < 64.0) {
        for (int k = 0; k < (int)fabs(m); k++)
            product *= m > 0.0 ? a + k : a - 1.0 - k;
        return m > 0.0 ? product : 1.0 / product;
    }
    if (sum <= 0.0 && sum == floor(sum))
        return a <= 0.0 && a == floor(a) ? NAN_ : INF;
    if (a <= 0.0 && a == floor(a))
        return 0.0;
    if (fabs(a) < 100.0 && fabs(sum) < 100.0)
        return sp_gamma(sum) * sp_rgamma(a);
    return exp(sp_gammaln(sum) - sp_gammaln(a)) * sp_gammasgn(sum) * sp_gammasgn(a);
}

/* w with w + log(w) = x: the step of P. Lawrence, R. Corless, D. Jeffrey (2012), twice; where w is
 * small, Halley's of w exp(w) = exp(x) */
REAL sp_wrightomega(REAL x)
{
    REAL w, t;
    if (isnan(x) || x == INF)
        return x;
    if (x > 1e20)
        return x;
    if (x < 1.0) {
        t = exp(x);
        w = x < -2.0 ? t * (1.0 - t * (1.0 - 1.5 * t)) : exp(2.0 * (x - 1.0) / 3.0);
        for (int k = 0; k < 3 && x > -40.0; k++) {
            REAL e = exp(-w), f = w - t * e;
            w -= f / (w + 1.0 - 0.5 * (w + 2.0) * f / (w + 1.0));
        }
        return w;
    }
    w = x - log(x) * x / (1.0 + x);
    for (int k = 0; k < 2; k++) {
        REAL r = x - w - log(w), next = w + 1.0;
        t = 2.0 * next * (next + 2.0 / 3.0 * r);
        w *= 1.0 + r / next * (t - r) / (t - 2.0 * r);
    }
    return w;
}

REAL sp_erfi(REAL x)
{
    if (isinf(x) || x == 0.0)
        return x;
    return 1.1283791670955125739 * sp_exp_square(x, 1.0) * sp_dawsn(x);
}

REAL sp_zetac(REAL x)
{
    if (x > 1.0)
        return x == INF ? 0.0 : sp_hurwitz(x, 2.0);
    return sp_riemann(x) - 1.0;
}

REAL sp_softplus(REAL x)
{
    return fmax(x, 0.0) + log1p(exp(-fabs(x)));
}
"""
