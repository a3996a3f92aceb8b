package markdown

import (
	"regexp"
	"strings"
)

// Formulas in TeX between dollar signs. An inline one has no spaces inside of its signs, and a
// letter or digit after it means that the dollar signs are prices or variables of a shell.
var (
	formula     = regexp.MustCompile(`\$\$([^$]+)\$\$|\$([^\s${][^$\n]*)\$([^\w{$]|$)`)
	isFormula   = regexp.MustCompile(`\\[a-zA-Z]+|[\w)}][\^_][\w{]|^[a-zA-Z]$`)
	texFraction = regexp.MustCompile(`\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}`)
	texRoot     = regexp.MustCompile(`\\sqrt\{([^{}]*)\}`)
	texScript   = regexp.MustCompile(`([\^_])(?:\{([^{}]*)\}|([\w+*]))`)
	texText     = regexp.MustCompile(`\\(?:text|mathrm|mathbf|mathit|operatorname)\{([^{}]*)\}`)
	texCommand  = regexp.MustCompile(`\\([a-zA-Z]+)|\\([,;:! {}%#&_])`)
	texWord     = regexp.MustCompile(`^(\w|\\)\w*$`)
)

// texSymbols are the symbols of commands. Other commands are shown by their names, such as sin.
var texSymbols = map[string]string{
	"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ",
	"kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ",
	"varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Sigma": "Σ",
	"Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "times": "×", "cdot": "·", "div": "÷", "pm": "±", "le": "≤", "leq": "≤", "ge": "≥",
	"geq": "≥", "ne": "≠", "neq": "≠", "approx": "≈", "equiv": "≡", "infty": "∞", "sum": "∑", "prod": "∏", "int": "∫", "partial": "∂",
	"nabla": "∇", "in": "∈", "notin": "∉", "subset": "⊂", "cup": "∪", "cap": "∩", "forall": "∀", "exists": "∃", "to": "→",
	"rightarrow": "→", "Rightarrow": "⇒", "leftarrow": "←", "ldots": "…", "dots": "…", "cdots": "⋯", "circ": "°", "left": "", "right": "",
}

// Small characters that the text font has.
var (
	raised = smallForms("0123456789+-=()abcdefghijklmnoprstuvwxyz",
		"⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")
	lowered = smallForms("0123456789+-=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
	escaped = strings.NewReplacer(`*`, `\*`, `_`, `\_`, `<`, `\<`, `[`, `\[`, `^`, `\^`)
)

// smallForms returns a replacer of characters by their small forms, in the same order.
func smallForms(plain, small string) *strings.Replacer {
	forms, pairs := []rune(small), []string{}
	for i, r := range []rune(plain) {
		pairs = append(pairs, string(r), string(forms[i]))
	}
	return strings.NewReplacer(pairs...)
}

// readableFormulas writes formulas in TeX with symbols, as far as a line of text can show them.
// Text in backquotes stays as it is.
func readableFormulas(source string) string {
	if !strings.Contains(source, "$") {
		return source
	}
	parts := strings.Split(source, "`")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = formula.ReplaceAllStringFunc(parts[i], func(found string) string {
			m := formula.FindStringSubmatch(found)
			if tex := m[1] + m[2]; isFormula.MatchString(strings.TrimSpace(tex)) {
				return escaped.Replace(formulaText(tex)) + m[3]
			}
			return found
		})
	}
	return strings.Join(parts, "`")
}

// formulaText returns a formula as a line of text.
func formulaText(tex string) string {
	tex = texText.ReplaceAllString(strings.Join(strings.Fields(tex), " "), "$1")
	tex = texScript.ReplaceAllStringFunc(tex, func(s string) string {
		m := texScript.FindStringSubmatch(s)
		small := map[string]*strings.Replacer{"^": raised, "_": lowered}[m[1]]
		plain := m[2] + m[3]
		text := small.Replace(plain)
		for _, r := range text {
			if strings.ContainsRune(plain, r) { // it has no small form
				if m[1] == "^" && len(plain) > 1 {
					plain = "(" + plain + ")"
				}
				return m[1] + plain
			}
		}
		return text
	})
	tex = texRoot.ReplaceAllStringFunc(tex, func(s string) string { return "√" + parenthesize(texRoot.FindStringSubmatch(s)[1]) })
	tex = texFraction.ReplaceAllStringFunc(tex, func(s string) string {
		m := texFraction.FindStringSubmatch(s)
		return parenthesize(m[1]) + "/" + parenthesize(m[2])
	})
	tex = texCommand.ReplaceAllStringFunc(tex, func(s string) string {
		m := texCommand.FindStringSubmatch(s)
		if symbol, known := texSymbols[m[1]]; known {
			return symbol
		}
		return m[1] + strings.Trim(m[2], ",;:!")
	})
	return strings.TrimSpace(strings.NewReplacer("{", "", "}", "").Replace(tex))
}

// parenthesize puts more than one word into parentheses.
func parenthesize(s string) string {
	if !texWord.MatchString(s) {
		return "(" + s + ")"
	}
	return s
}
