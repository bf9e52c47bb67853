"""Elliptic integrals in Carlson's form by duplication (B. C. Carlson, 1995), Legendre's made of
them (DLMF 19.25), and Jacobi's functions by the arithmetic-geometric mean (DLMF 22.20)."""

from __future__ import annotations

TEXT = r"""
REAL sp_elliprf(REAL x, REAL y, REAL z)
{
    REAL a = (x + y + z) / 3.0, dx, dy, dz, e2, e3, power = 1.0;
    if (isnan(a) || x < 0.0 || y < 0.0 || z < 0.0)
        return NAN_;
    if (isinf(x) || isinf(y) || isinf(z))
        return 0.0;
    if ((x == 0.0) + (y == 0.0) + (z == 0.0) > 1)
        return INF;
    dx = a - x;
    dy = a - y;
    dz = -(dx + dy);
    for (int k = 0; k < 40; k++) {
        REAL p = sqrt(x), q = sqrt(y), r = sqrt(z), shift = p * q + (p + q) * r;
        if (power * fmax(fabs(dx), fmax(fabs(dy), fabs(dz))) < 0.002 * a)
            break;
        x = 0.25 * (x + shift);
        y = 0.25 * (y + shift);
        z = 0.25 * (z + shift);
        a = 0.25 * (a + shift);
        power *= 0.25;
    }
    dx *= power / a;
    dy *= power / a;
    dz = -(dx + dy);
    e2 = dx * dy - dz * dz;
    e3 = dx * dy * dz;
    return (1.0 - e2 / 10.0 + e3 / 14.0 + e2 * e2 / 24.0 - 3.0 * e2 * e3 / 44.0 -
            5.0 * e2 * e2 * e2 / 208.0 + 3.0 * e3 * e3 / 104.0 + e2 * e2 * e3 / 16.0) / sqrt(a);
}

/* the truncated series of R_J and R_D in their five differences, DLMF 19.36.2 */
REAL sp_carlson_sum(REAL x, REAL y, REAL z, REAL p)
{
    REAL xyz = x * y * z, pp = p * p, ppp = pp * p;
    REAL e2 = x * y + x * z + y * z - 3.0 * pp, e3 = xyz + 2.0 * e2 * p + 4.0 * ppp;
    REAL e4 = (2.0 * xyz + e2 * p + 3.0 * ppp) * p, e5 = xyz * pp;
    return 1.0 - 3.0 * e2 / 14.0 + e3 / 6.0 + 9.0 * e2 * e2 / 88.0 - 3.0 * e4 / 22.0 -
           9.0 * e2 * e3 / 52.0 + 3.0 * e5 / 26.0 - e2 * e2 * e2 / 16.0 + 3.0 * e3 * e3 / 40.0 +
           3.0 * e2 * e4 / 20.0 + 45.0 * e2 * e2 * e3 / 272.0 - 9.0 * (e3 * e4 + e2 * e5) / 68.0;
}

REAL sp_elliprd(REAL x, REAL y, REAL z)
{
    REAL a = (x + y + 3.0 * z) / 5.0, dx, dy, dz, power = 1.0, sum = 0.0;
    if (isnan(a) || x < 0.0 || y < 0.0 || z < 0.0)
        return NAN_;
    if (isinf(x) || isinf(y) || isinf(z))
        return 0.0;
    if (z == 0.0 || (x == 0.0 && y == 0.0))
        return INF;
    dx = a - x;
    dy = a - y;
    dz = a - z;
    for (int k = 0; k < 40; k++) {
        REAL p = sqrt(x), q = sqrt(y), r = sqrt(z), shift = p * q + (p + q) * r;
        if (power * fmax(fabs(dx), fmax(fabs(dy), fabs(dz))) < 0.0015 * a)
            break;
        sum += power / (r * (z + shift));
        x = 0.25 * (x + shift);
        y = 0.25 * (y + shift);
        z = 0.25 * (z + shift);
        a = 0.25 * (a + shift);
        power *= 0.25;
    }
    dx *= power / a;
    dy *= power / a;
    dz = -(dx + dy) / 3.0;
    return power * sp_carlson_sum(dx, dy, dz, dz) / (a * sqrt(a)) + 3.0 * sum;
}

/* x >= 0; of y < 0 the principal value, DLMF 19.20.8 */
REAL sp_elliprc(REAL x, REAL y)
{
    REAL factor = 1.0, t;
    if (isnan(x) || isnan(y) || x < 0.0 || y == 0.0)
        return NAN_;
    if (isinf(x) || isinf(y))
        return 0.0;
    if (y < 0.0) {
        factor = sqrt(x / (x - y));
        x -= y;
        y = -y;
    }
    t = (y - x) / x;
    if (x == 0.0)
        return factor * 1.5707963267948966192 / sqrt(y);
    if (fabs(t) < 1e-3) {
        REAL u = t * (1.0 / 5.0 - t * (1.0 / 7.0 - t * (1.0 / 9.0 - t * (1.0 / 11.0 - t / 13.0))));
        return factor * (1.0 - t * (1.0 / 3.0 - u)) / sqrt(x);
    }
    if (t > 0.0)
        return factor * atan(sqrt(t)) / sqrt(y - x);
    t = sqrt(-t);
    return factor * (t > 0.5 ? log((sqrt(x) + sqrt(x - y)) / sqrt(y)) : atanh(t)) / sqrt(x - y);
}

/* R_G by R_F and R_D, DLMF 19.21.10, with the largest argument where it is subtracted from */
REAL sp_elliprg(REAL x, REAL y, REAL z)
{
    REAL low = fmin(x, fmin(y, z)), high = fmax(x, fmax(y, z));
    REAL middle = fmax(fmin(x, y), fmin(fmax(x, y), z));
    if (isnan(x + y + z) || low < 0.0)
        return NAN_;
    if (isinf(high))
        return INF;
    if (middle == 0.0)
        return 0.5 * sqrt(high);
    return 0.5 * (middle * sp_elliprf(low, high, middle) -
                  (low - middle) * (high - middle) / 3.0 * sp_elliprd(low, high, middle) +
                  sqrt(low * high / middle));
}

REAL sp_ellipkinc(REAL phi, REAL m)
{
    REAL turns, rest, s, c, f;
    if (isnan(phi) || !(m <= 1.0))
        return NAN_;
    if (isinf(phi) || m == -INF)
        return isinf(m) ? (isinf(phi) ? NAN_ : 0.0) : phi;
    turns = rint(phi / PI);
    rest = (phi - turns * 3.1415926535897931160) - turns * 1.2246467991473531772e-16;
    s = sin(rest);
    c = cos(rest);
    if (m == 1.0 && fabs(phi) >= 1.5707963267948966)
        return INF;
    f = s * sp_elliprf(c * c, 1.0 - m * s * s, 1.0);
    return turns == 0.0 ? f : f + 2.0 * turns * sp_ellipk(m);
}

REAL sp_ellipeinc(REAL phi, REAL m)
{
    REAL turns, rest, s, c, q, e;
    if (isnan(phi) || !(m <= 1.0))
        return NAN_;
    if (isinf(phi))
        return phi;
    if (m == -INF)
        return phi == 0.0 ? NAN_ : copysign(INF, phi);
    turns = rint(phi / PI);
    rest = (phi - turns * 3.1415926535897931160) - turns * 1.2246467991473531772e-16;
    s = sin(rest);
    c = cos(rest);
    q = 1.0 - m * s * s;
    if (fabs(s) < 0.7 || m < 0.5) /* DLMF 19.25.9, and 19.25.10 where its terms cancel */
        e = s * (sp_elliprf(c * c, q, 1.0) - m / 3.0 * s * s * sp_elliprd(c * c, q, 1.0));
    else
        e = s * ((1.0 - m) * sp_elliprf(c * c, q, 1.0) +
                 m * (1.0 - m) / 3.0 * s * s * sp_elliprd(c * c, 1.0, q)) +
            m * s * fabs(c) / sqrt(q);
    return turns == 0.0 ? e : e + 2.0 * turns * sp_ellipe(m);
}

/* the amplitude of u, descending by the arithmetic-geometric mean */
REAL sp_ellipj_ph(REAL u, REAL m)
{
    REAL means[10], halves[10], b = sqrt(1.0 - m), phi;
    int n = 0;
    if (isnan(u) || !(m >= 0.0 && m <= 1.0))
        return NAN_;
    if (m == 1.0)
        return 2.0 * atan(exp(u)) - 1.5707963267948966192;
    means[0] = 1.0;
    halves[0] = sqrt(m);
    while (n < 9 && fabs(halves[n] / means[n]) > EPS) {
        REAL a = means[n];
        n++;
        halves[n] = 0.5 * (a - b);
        means[n] = 0.5 * (a + b);
        b = sqrt(a * b);
    }
    phi = u * means[n];
    for (int k = 0; k < n; k++)
        phi *= 2.0;
    for (; n > 0; n--)
        phi = 0.5 * (phi + asin(halves[n] * sin(phi) / means[n]));
    return phi;
}

REAL sp_ellipj_sn(REAL u, REAL m)
{
    return m == 1.0 ? tanh(u) : sin(sp_ellipj_ph(u, m));
}

REAL sp_ellipj_cn(REAL u, REAL m)
{
    return m == 1.0 ? 1.0 / cosh(u) : cos(sp_ellipj_ph(u, m));
}

REAL sp_ellipj_dn(REAL u, REAL m)
{
    REAL phi = sp_ellipj_ph(u, m), s = sin(phi), c = cos(phi);
    return m == 1.0 ? 1.0 / cosh(u) : sqrt((1.0 - m) * s * s + c * c);
}
"""
