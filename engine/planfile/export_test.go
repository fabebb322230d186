package planfile

// SealOf is for tests that forge.
var SealOf = sealOf
