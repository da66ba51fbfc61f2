"""Bodies: every producer (rigid, beam, plate, finite elements, spring) ends in the same record of shape integrals."""
