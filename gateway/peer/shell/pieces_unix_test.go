//go:build unix

package shell

import (
	"math/rand/v2"
	"strings"
)

// textPieces are what texts are generated from: programs, separators, redirects, braces, patterns
// and quotes. A text may write to every path that pieces make, so the only slashes are in devices
// that end in a blank: $sub/x would be a file in the root. A broken bar stands for a pipe.
var textPieces = strings.Split(strings.Join([]string{programPieces, compoundPieces, redirectPieces, bracePieces, patternPieces, quotePieces, temporaryPieces}, "|"), "|")

const (
	programPieces  = "1=a |é=1 |1+=a |é+=1 |a+=1 |X+=1 |a[1]=x |1[1]=x |a.b=1 |12=x |0=x |１=1 |日=1 |é[1]=2 |1a=x |1=a|é=|1=2 é=3 |é=(a) |1=(a b) |\"1\"=a |1\\=a |foo|foo|foo |bar|bar |foo a|foo b |a|b|x|1|2|12|-|--|-x|1-|x=1|X=1 |¦|¦¦|¦&|;|;|&|&&|\n|\t| | | |(|)|{ |; }|! |time |eval |exec |command "
	compoundPieces = "if |; then |; fi|for i in a|; do |; done|case a in a) |;; esac|#| # "
	redirectPieces = "<a|<|>|>x|>>|>>x|<>|<>x|>¦|>¦x|>&|>&x|>&1|>&2|>&-|<&-|<&|<&1|<&0|2>&1|1>&2|2>&-|1>&-|2<&-|0<&-|12>|12>x|12>&1|10<a|10>&-|&>|&>x|&>>|&>>x|&>&|&>&1|<<<|<<<x|" +
		"<<X|<<-X|<<'X'|<<\\X|<<X\na\nX\n|<<'X'\nfoo\nX\n|<<\"X\"|<<$'X'|<<$X|\nX\n|\nX\n|X|\n\tX\n|<<'X'# |<<'X Y'|X Y\n|<<X <<Y\n|Y\n|$(foo <<X\n|\"$(foo <<'X'\n|\nX)|\nX\n)\"|`foo <<X\n|<<'X';|<<'X'¦bar\n|<<X\"\"|<<\"X'Y\"|X'Y\n|<<'X'{a,b}|<<'X'\nfoo \\\nX\nbar\nX\n|<<X\nfoo \\\nX\nbar\nX\n|>>&|>>&x|>>¦|&>¦|>&¦|>!|>!x|>&!|>>!x|&¦|&!|{fd}>|{fd}>x|{fd}<&-|{fd}>&-|" +
		"{a[0]}>x|{a}|{1}>x|{}|}>x|2>|2>x|2>>x|0<|1>|3>|3>&1|3<a|9>x|2>&1-|>&2-|<&0-|>&1x|>&12|<(|>("
	bracePieces = "{a,b}|{,a}|{a,}|{,}|{,foo}|{foo,}|{foo,bar}|{,{,a}}|{a,{b,}}|{a,,b}|{|}|,|..|{1..3}|{3..1}|{a..c}|{a..c..2}|{1..9..3}|{01..3}|{a..C}|{-1..1}|{1..2..0}|{a,b|a,b}|" +
		"{a},b}|{,\"\"}|{'',a}|{\"a b\",c}|{a\\,b,c}|\\{a,b}|{a,b\\}|'{'a,b}|{$Y,a}|{*,x}|${Y}|$Y|\"$Y\"|$@|\"$@\"|$*|$(:)|`:`|$(foo)|\"$(bar)\"|`bar`|$((1))|$X|${Y:-a}|${Y:-a b}"
	patternPieces = "*|?|[a]|[ab]|[!a]|[^a]|[a-z]|[[:alpha:]]|.*|.?|.[h]|su*|*b|**|s?b|*.x|[|]|[]|[]a]|[!]|[[]|?(a)|@(a)|*(N)|*(.)|(a)|(a¦b)|a(N)|q*(N)|^a|a#|a##|a~b|<->|<1-2>|=foo|=|~|~x"
	quotePieces   = "'|\"|''|\"\"|\\|\\\\|\\ |\\n|$'|\\\n|$'\\n'|$'\\x41'|$'a\\'b'|$\"|$\"a\"|'a b'|\"a b\"|'a|\"a|$|$$|$#|%|^|+|@|:|:;|,|!|!a|é|[[|]]|((|))|foo()|LANG=C |a=(b)|Y=foo;|Y=1;|Y='a[$(bar)]';|for i in 'a[$(bar)]'; do |for i in 1 2; do |$((i))|$((Y))|$((Y+1))|${Y[Y]}|${Y:Y}|${!Y}|${Y@P}|${#Y}|case $((Y)) in *) |&>/dev/null |>/dev/null |" +
		"eval 'foo a'|eval $'foo a'|eval \"foo a\"|eval $'foo # \\\\\\nbar'|repeat 2 |noglob |- |coproc |function |select |always |-n|--x=y"
	temporaryPieces = "f=$(mktemp);|f=$(mktemp);|f=\"$(mktemp -d)\";|f=`mktemp`;|f=$(mktemp) && |f=$(mktemp -t a)\n|f=x;|f=|f+=x;|for f in a; do |read f;|unset f;|$f|\"$f\"|\"$f\"|foo \"$f\"|foo $f|\"$f\"x|${f}|sh -c 'foo $f'"
)

func randomText(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString([]string{"foo ", "foo ", "foo", "bar a", "", "2>&1 foo "}[r.IntN(6)])
	for range 1 + r.IntN(6) {
		b.WriteString(strings.ReplaceAll(textPieces[r.IntN(len(textPieces))], "¦", "|"))
		if r.IntN(3) == 0 {
			b.WriteByte(' ')
		}
	}
	switch r.IntN(16) {
	case 0, 1:
		return "eval '" + strings.ReplaceAll(b.String(), "'", `'\''`) + "'"
	case 2:
		return "eval $'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\t", `\t`).Replace(b.String()) + "'"
	}
	return b.String()
}
