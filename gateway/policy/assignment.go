package policy

import (
	"regexp"

	"fairlead/gateway/peer/shell"
)

// harmlessVariable matches variables that need no approval: they change the appearance of text, or
// select one of the ways in which a program is meant to be built or run.
var harmlessVariable = regexp.MustCompile(`^(LANG|LC_[A-Z]+|TZ|TERM|NO_COLOR|FORCE_COLOR|CLICOLOR(_FORCE)?|CI|COLUMNS|LINES|` +
	`(NODE|BABEL|RAILS|RACK|APP|FLASK|MIX|DENO)_ENV|GOOS|GOARCH|GOARM|GOAMD64|CGO_ENABLED|GOMAXPROCS|RUST_LOG|RUST_BACKTRACE|LOG_LEVEL|DEBUG|VERBOSE|` +
	`PORT|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|OMP_NUM_THREADS|SOURCE_DATE_EPOCH)$`)

// harmlessValue matches their allowed values: names, never paths. A time zone has its own.
var (
	harmlessValue = regexp.MustCompile(`^[A-Za-z0-9_.@+-]*$`)
	zoneName      = regexp.MustCompile(`^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$`)
)

// sensitiveVariable matches the variables that determine what shells and programs run or load, or
// where they work. Others may be set if the default allows.
var sensitiveVariable = regexp.MustCompile(`^(ENV|BASH_.*|ZDOTDIR|IFS|PS[0-4]|PROMPT.*|SHELL.*|BASHOPTS|HOME|PWD|OLDPWD|TMPDIR|XDG_.*|LD_.*|DYLD_.*|GIT_.*|SSH_.*|HG.*|SVN_.*|` +
	`.*EDITOR|VISUAL|.*PAGER|LESS.*|.*COMMAND.*|.*OPT|.*OPTS|.*OPTIONS?|.*FLAGS|.*ARGS|.*RC|.*CONFIG.*|.*_HOME|.*PATH|.*ROOT|.*_?DIR|.*INIT|.*_RSH|` +
	`.*ASKPASS|.*BROWSER|.*_CONF|.*SUFFIX|PYTHON.*|PIP_.*|UV_.*|NODE_[^E].*|(?i:npm)_.*|PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|.*JAVA.*|JDK.*|LUA_.*|PHP.*|GOBIN|GOTOOL.*|RUSTC.*|CARGO.*|CC|CXX|LD|AR|AS|CPP|` +
	`MAKE.*|CMAKE.*|PKG_.*|DOCKER_.*|KUBE.*|AWS_.*|(?i:.*proxy)|TERMINFO.*|TERMCAP|INPUTRC|.*WRAPPER|.*HOOK.*|GREP_.*|TAR_.*|histchars|auto_resume|TAPE|GZIP|BZIP2?|ZIPOPT|EXINIT|FCEDIT|` +
	`GCONV.*|LOC.*|NLS.*|HOSTALIASES|RES_.*|AWK.*|BASH|.*FILE|.*_EXE|.*_BIN|.*CMD|.*_PROG|.*_PROGRAM|.*SHELL)$`)

var sensitiveZshVariable = regexp.MustCompile(`^(path|fpath|cdpath|module_path|manpath|.*_functions|prompt|psvar|aliases|galiases|saliases|functions|commands|options|builtins|nameddirs)$`)

// localVariable matches names that a text gives to its own variables. No program is known to read such
// a variable, and no shell but zsh gives one a meaning, except for sensitive ones.
var localVariable = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// isFree reports whether everything is allowed on a machine that contains commands, and no rule
// restricts anything.
func (ma *matcher) isFree() bool {
	return ma.set.fallback == Allow && ma.call.Contained && !ma.set.hasCommandRules && len(ma.set.fileRestrictions) == 0
}

func (ev *evaluation) decideAssignment(a shell.Assign) {
	p := Part{Kind: "assignment", Text: a.Text, Verdict: Allow, Reason: a.Name + " is known to be harmless"}
	value := harmlessValue
	if a.Name == "TZ" {
		value = zoneName
	}
	if a.WordIndex > 0 && !a.Guess && a.Value.Plain() && ev.covered[a.Command].has(a.WordIndex) {
		p.Reason = "The rule for the command includes this"
		ev.addPart(p)
		return
	}
	isSensitive := sensitiveVariable.MatchString(a.Name) || ev.facts.Kind == shell.Zsh && sensitiveZshVariable.MatchString(a.Name)
	isLocal := a.Local && ev.set.fallback == Ask && ev.facts.Kind != shell.Zsh && (ev.call.Contained || localVariable.MatchString(a.Name))
	isContained := ev.set.fallback == Ask && ev.call.Contained && !harmlessVariable.MatchString(a.Name) && a.Value.Plain() && harmlessValue.MatchString(a.Value.Text)
	if !isSensitive && (ev.set.fallback == Allow || isContained || isLocal) || ev.rules.isFree() {
		p.Reason = a.Name + " is not known to change what programs do"
		if ev.set.fallback == Allow {
			p.Reason = ev.rules.defaultReason("")
		}
		if !a.Guess {
			ev.addPart(p)
		}
		return
	}
	if a.Name == "IFS" && a.Value.Text == "" && a.Value.Plain() && !a.Guess { // it only splits less
		p.Reason = "An empty IFS only keeps words together"
		ev.addPart(p)
		return
	}
	if !harmlessVariable.MatchString(a.Name) || !a.Value.Plain() || !value.MatchString(a.Value.Text) {
		ev.offers.isBarred = true
		p.Verdict, p.Reason = Ask, "Sets "+shorten(a.Name)+", which may change what programs do"
	}
	if a.Guess && p.Verdict == Allow {
		return
	}
	ev.addPart(p)
}
