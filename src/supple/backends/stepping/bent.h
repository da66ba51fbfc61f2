/* What bending changes of the matrices of bodies, see simulation/bent_limbs.py.
 *
 * Mass that has moved aside changes the inertia on twists and its coupling with the elastic coordinates. Elements of a beam
 * are stretched by what bending takes off them, 1/2 e.G e, so their stiffness acts on T e' with T = 1 + sum a (G e)^T: where
 * strains are axial, T^T K T is K and, of every element, (K a) g^T + g (K a)^T + g (a.K a) g^T with g = G e.
 */
#if LIMBS > 0 && SUPPLE_LANES == 1
/* Inertia of bodies as bent, and g of their elements behind it, at a place in `reach` */
static void take_bending(const double *q, double *reach)
{
    for (int j = 0; j < LIMBS; j++) {
        const Limb *limb = LIMB + j;
        const double *e = q + limb->at;
        double *own = reach + LIMB_BENT[j], *g = own + TWISTS * TWISTS + TWISTS * limb->elastic;
        memcpy(own, LIMB_NUMBERS + limb->rigid, (g - own) * sizeof *own);
        for (const Bend *x = BENDS + limb->bend; x < BENDS + limb->bend + limb->bends; x++)
            own[x->to] += LIMB_NUMBERS[x->by] * e[x->first] * (x->second < 0 ? 1.0 : e[x->second]);
        for (const Window *at = WINDOWS + limb->stretch; at < WINDOWS + limb->stretch + limb->stretches; at++)
            for (int i = 0; i < at->wide; i++, g++) {
                *g = 0.0;
                for (int k = 0; k < at->wide; k++)
                    *g += LIMB_NUMBERS[at->numbers + at->wide * i + k] * e[at->first + k];
            }
    }
}

#endif
