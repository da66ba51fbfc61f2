"""Bodies: every producer (rigid, beam, spring) ends in the same record of shape integrals."""
