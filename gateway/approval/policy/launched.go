package policy

import (
	"regexp"
	"strings"

	"fairlead/gateway/approval/shell"
)

// shellsBy are launchers that start a shell when they are given no command.
var shellsBy = set("script fakeroot chroot unshare nsenter linux32 linux64 setarch su sg newgrp firejail proot capsh systemd-nspawn ssh-agent dtach abduco")

// tameOptions are options of launchers that change nothing about what is started; the value is whether one takes a value.
var tameOptions = map[string]map[string]bool{
	"nice":    {"-n": true, "--adjustment": true},
	"timeout": {"-k": true, "-s": true, "--kill-after": true, "--signal": true, "--foreground": false, "--preserve-status": false, "-v": false, "--verbose": false},
	"stdbuf":  {"-i": true, "-o": true, "-e": true, "--input": true, "--output": true, "--error": true},
	"ionice":  {"-c": true, "-n": true, "-t": false, "--class": true, "--classdata": true},
	"command": {"-v": false, "-V": false},
	"time":    {"-p": false},
	"nohup":   {},
}

// tameValue is what the value of such an option may be: a number, a signal, a size.
var tameValue = regexp.MustCompile(`^[A-Za-z0-9.+-]+$`)

// tame reports whether option i of a launcher changes nothing; i moves to its value when that is the next word.
func tame(name string, w []shell.Word, i *int) bool {
	opt, v, cut := strings.Cut(w[*i].Text, "=")
	if isFlag(opt) && opt[1] != '-' && len(opt) > 2 {
		opt, v, cut = opt[:2], opt[2:], true
	}
	valued, known := tameOptions[strings.TrimPrefix(name, "g")][opt]
	switch {
	case !known || !w[*i].Plain():
		return false
	case !valued:
		return !cut
	case cut:
		return tameValue.MatchString(v)
	case *i+1 < len(w) && w[*i+1].Plain() && tameValue.MatchString(w[*i+1].Text):
		*i++
		return true
	}
	return false
}

func guardShell(c shell.Command, add func(int, bool, string)) {
	w := c.Words
	if c.Piped || c.Stdin != nil && (c.Stdin.Dynamic || c.Piped) {
		add(never, true, base(w[0].Text)+" runs what another command gives it")
	}
	if len(w) == 1 {
		if c.Stdin == nil {
			add(exactOnly, true, base(w[0].Text)+" without a script runs what it reads")
		}
		return
	}
	if o := w[1].Text; len(w) == 3 && (o == "-c" || o == "-lc") && w[2].Plain() {
		return // the script is judged by itself
	}
	if len(w) == 2 && (w[1].Text == "--version" || w[1].Text == "--help") {
		return
	}
	for i := 1; i < len(w); i++ {
		t := w[i].Text
		text := isFlag(t) && !strings.HasPrefix(t, "--") && strings.ContainsAny(t, "csi") || shell.Input(t)
		add(i, text || w[i].Dynamic, "what "+base(w[0].Text)+" "+short(t)+" runs is not in the command")
	}
}
