// This file lets the compiler accept the declaration without a body in renderers.go.
