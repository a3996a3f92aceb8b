// This file lets the compiler accept the declarations without a body in other files.
