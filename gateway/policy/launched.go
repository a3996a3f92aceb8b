package policy

import (
	"strings"

	"fairlead/gateway/policy/shell"
)

func guardShell(c shell.Command, add func(int, bool, string)) {
	w := c.Words
	if c.Piped || c.Stdin != nil && (c.Stdin.Dynamic || c.Piped) {
		add(never, true, base(w[0].Text)+" runs the output of another command")
	}
	if len(w) == 1 {
		if c.Stdin == nil {
			add(exactOnly, true, base(w[0].Text)+" runs its input")
		}
		return
	}
	if o := w[1].Text; len(w) == 3 && (o == "-c" || o == "-lc") && w[2].Plain() {
		return // the script is judged separately
	}
	if len(w) == 2 && (w[1].Text == "--version" || w[1].Text == "--help") {
		return
	}
	for i := 1; i < len(w); i++ {
		t := w[i].Text
		text := isFlag(t) && !strings.HasPrefix(t, "--") && strings.ContainsAny(t, "csi") || shell.Input(t)
		add(i, text || w[i].Dynamic, base(w[0].Text)+" "+short(t)+" runs code that is not in the command")
	}
}
