package markdown

import "testing"

func TestFormulasAreReadable(t *testing.T) {
	for in, want := range map[string]string{
		`Energy is $E = mc^2$.`:                     `Energy is E = mc².`,
		`$x_1^{10}$ and $x$`:                        `x₁¹⁰ and x`,
		`$$\frac{a+b}{2} \leq \sqrt{n}$$`:           `(a+b)/2 ≤ √n`,
		`$\sin \alpha \cdot \frac{1}{\pi}$`:         `sin α · 1/π`,
		`$e^{kx}$ is $\text{large}$`:                `eᵏˣ is large`,
		`from $5 to $10, or $5/$10`:                 `from $5 to $10, or $5/$10`,
		`echo $HOME_DIR:$PATH ${A_B}=${C}`:          `echo $HOME_DIR:$PATH ${A_B}=${C}`,
		"`$x^2$` is code":                           "`$x^2$` is code",
		`the $f$ function, $a*b*c^2$, $x_{max}$ ok`: `the f function, a\*b\*c², xₘₐₓ ok`,
		`$\sum_{k=1}^{n} k$`:                        `∑ₖ₌₁ⁿ k`,
		`$x_{big}$ and $2^{Q}$`:                     `x\_big and 2\^Q`,
	} {
		if got := readableFormulas(in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}
