package policy

import (
	"regexp"

	"fairlead/gateway/policy/shell"
)

// harmlessVariable matches variables that need no approval: they change the appearance of text.
var harmlessVariable = regexp.MustCompile(`^(LANG|LC_[A-Z]+|TZ|TERM|NO_COLOR|FORCE_COLOR|CI|COLUMNS|LINES)$`)

// harmlessValue matches their allowed values: names, never paths. A time zone has its own.
var (
	harmlessValue = regexp.MustCompile(`^[A-Za-z0-9_.@+-]*$`)
	zoneName      = regexp.MustCompile(`^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$`)
)

// sensitiveVariable matches the variables that determine what shells and programs run or load, or
// where they work. Others may be set if the default allows.
var sensitiveVariable = regexp.MustCompile(`^(ENV|BASH_.*|ZDOTDIR|IFS|PS[0-4]|PROMPT.*|SHELL.*|BASHOPTS|HOME|PWD|OLDPWD|TMPDIR|XDG_.*|LD_.*|DYLD_.*|GIT_.*|SSH_.*|HG.*|SVN_.*|` +
	`.*EDITOR|VISUAL|.*PAGER|BROWSER|LESS.*|.*COMMAND.*|.*OPT|.*OPTS|.*OPTIONS?|.*FLAGS|.*ARGS|.*RC|.*CONFIG.*|.*_HOME|.*PATH|.*ROOT|.*_?DIR|.*INIT|.*_RSH|` +
	`.*ASKPASS|PYTHON.*|PIP_.*|UV_.*|NODE_[^E].*|(?i:npm)_.*|PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|.*JAVA.*|JDK.*|LUA_.*|PHP.*|GOBIN|GOTOOL.*|RUSTC.*|CARGO.*|CC|CXX|LD|AR|AS|CPP|` +
	`MAKE.*|CMAKE.*|PKG_.*|DOCKER_.*|KUBE.*|AWS_.*|(?i:.*proxy)|TERMINFO.*|TERMCAP|INPUTRC|.*WRAPPER|.*HOOK.*|GREP_.*|TAR_.*|TAPE|GZIP|BZIP2?|ZIPOPT|EXINIT|FCEDIT|` +
	`GCONV.*|LOC.*|NLS.*|HOSTALIASES|RES_.*|AWK.*|BASH|.*FILE|.*_EXE|.*_BIN|.*CMD|.*_PROGRAM|.*SHELL)$`)

var sensitiveZshVariable = regexp.MustCompile(`^(path|fpath|cdpath|module_path|manpath|.*_functions|prompt|psvar|aliases|galiases|saliases|functions|commands|options|builtins|nameddirs)$`)

func (ev *evaluation) decideAssignment(a shell.Assign) {
	p := Part{Kind: "assignment", Text: a.Text, Verdict: Allow, Reason: a.Name + " only affects the display"}
	value := harmlessValue
	if a.Name == "TZ" {
		value = zoneName
	}
	if a.WordIndex > 0 && !a.Guess && a.Value.Plain() && ev.covered[a.Command].has(a.WordIndex) {
		p.Reason = "The rule for the command includes this"
		ev.addPart(p)
		return
	}
	if ev.fallback == Allow && !sensitiveVariable.MatchString(a.Name) && !(ev.facts.Kind == shell.Zsh && sensitiveZshVariable.MatchString(a.Name)) {
		p.Reason = ev.defaultReason("")
		if !a.Guess {
			ev.addPart(p)
		}
		return
	}
	if !harmlessVariable.MatchString(a.Name) || !a.Value.Plain() || !value.MatchString(a.Value.Text) {
		ev.noOffers = true
		p.Verdict, p.Reason = Ask, "Sets "+shorten(a.Name)+", which may change what programs do"
	}
	if a.Guess && p.Verdict == Allow {
		return
	}
	ev.addPart(p)
}
