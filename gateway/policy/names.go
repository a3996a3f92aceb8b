package policy

import (
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/policy/shell"
)

// vocabulary describes the alternative names of a program's subcommands: aliases and abbreviations.
type vocabulary struct {
	names   []string          // its subcommands; needed to resolve abbreviations with certainty
	aliases map[string]string // aliases
	// begins means that the program accepts a prefix of a name. Without names, a prefix only
	// possibly means that name.
	begins bool
}

// vocabularies are used for strict rules only: an allow means exactly its words. Git's entries are
// built in; a person's aliases are settings, which the floor protects. kubectl, terraform,
// systemctl and apt have no aliases.
var vocabularies = map[string]vocabulary{
	"npm": {
		begins: true,
		names: strings.Fields(`access adduser approve-scripts audit bugs cache ci completion config dedupe deny-scripts deprecate diff dist-tag docs doctor
			edit exec explain explore find-dupes fund get help help-search init install install-ci-test install-test link ll login logout ls org outdated
			owner pack ping pkg prefix profile prune publish query rebuild repo restart root run sbom search set shrinkwrap stage star stars start stop team
			test token trust undeprecate uninstall unpublish unstar update version view whoami`),
		aliases: pairs(`author=owner home=docs issues=bugs info=view show=view find=search add=install unlink=uninstall remove=uninstall rm=uninstall
			r=uninstall un=uninstall rb=rebuild list=ls ln=link create=init i=install it=install-test cit=install-ci-test u=update up=update c=config
			s=search se=search tst=test t=test ddp=dedupe v=view run-script=run clean-install=ci clean-install-test=install-ci-test x=exec why=explain
			la=ll verison=version ic=ci innit=init in=install ins=install inst=install insta=install instal=install isnt=install isnta=install
			isntal=install isntall=install install-clean=ci isntall-clean=ci hlep=help dist-tags=dist-tag upgrade=update udpate=update rum=run
			sit=install-ci-test urn=run ogr=org add-user=adduser`),
	},
	"pnpm":   {aliases: pairs("i=install rm=remove uninstall=remove un=remove up=update upgrade=update ln=link rb=rebuild t=test tst=test")},
	"yarn":   {aliases: pairs("rm=remove upgrade=up")},
	"bun":    {aliases: pairs("i=install a=add rm=remove")},
	"cargo":  {aliases: pairs("b=build c=check d=doc r=run t=test rm=remove")},
	"helm":   {aliases: pairs("del=uninstall delete=uninstall un=uninstall ls=list fetch=pull")},
	"brew":   {aliases: pairs("instal=install rm=uninstall remove=uninstall up=update ls=list abv=info homepage=home ln=link dr=doctor")},
	"dnf":    {aliases: pairs("in=install rm=remove up=upgrade update=upgrade erase=remove localinstall=install")},
	"zypper": {aliases: pairs("in=install rm=remove up=update dup=dist-upgrade ref=refresh")},
	"winget": {aliases: pairs("add=install rm=uninstall remove=uninstall update=upgrade find=search")},
	"svn":    {aliases: pairs("ci=commit co=checkout del=delete remove=delete rm=delete mv=move rename=move ren=move cp=copy sw=switch up=update")},
	"git":    {aliases: pairs("stage=add init-db=init fsck-objects=fsck send-pack=push http-push=push")},
	"docker": {aliases: pairs("remove=rm")},
	"podman": {aliases: pairs("remove=rm")},
	// These accept prefixes, but their full list of names is not known, so a prefix only possibly
	// means the name.
	"hg":         {begins: true, aliases: pairs("ci=commit co=update up=update checkout=update mv=rename move=rename rm=remove")},
	"gem":        {begins: true, aliases: pairs("i=install")},
	"bundle":     {begins: true, aliases: pairs("i=install")},
	"composer":   {begins: true, aliases: pairs("i=install u=update upgrade=update r=require rm=remove uninstall=remove")},
	"rails":      {aliases: pairs("g=generate d=destroy c=console s=server")},
	"ip":         {begins: true},
	"tc":         {begins: true},
	"bridge":     {begins: true},
	"nmcli":      {begins: true},
	"tmux":       {begins: true},
	"gradle":     {begins: true},
	"gradlew":    {begins: true},
	"nuget":      {begins: true},
	"mysqladmin": {begins: true},
}

func pairs(s string) map[string]string {
	m := map[string]string{}
	for _, p := range strings.Fields(s) {
		name, full, _ := strings.Cut(p, "=")
		m[name] = full
	}
	return m
}

// full returns the subcommand that a word means; a word without another meaning is returned as it
// is.
func (v vocabulary) full(word string) string {
	if f, ok := v.aliases[word]; ok {
		return f
	}
	if !v.begins || v.names == nil || word == "" {
		return word
	}
	// npm accepts cleanInstall for clean-install
	word = upper.ReplaceAllStringFunc(word, func(s string) string { return "-" + strings.ToLower(s) })
	found := ""
	for _, n := range v.names {
		if n == word {
			return n
		}
		if strings.HasPrefix(n, word) {
			if found != "" {
				return word // ambiguous: the program accepts neither
			}
			found = n
		}
	}
	for alias, n := range v.aliases {
		if strings.HasPrefix(alias, word) && found != n {
			if found != "" {
				return word
			}
			found = n
		}
	}
	if found == "" {
		return word
	}
	return found
}

var upper = regexp.MustCompile(`[A-Z]`)

// renamed compares the words of a strict rule after the program's name with words that may be
// aliases.
func renamed(name string, pattern []glob, words []shell.Word) grade {
	v, ok := vocabularies[name]
	if !ok {
		return none
	}
	// the rule's subcommand
	at := slices.IndexFunc(pattern, func(g glob) bool { return g.literal() && !isFlag(g.parts[0]) })
	if at < 0 {
		return none
	}
	said := pattern[at].parts[0]
	want := v.full(said)
	best := none
	for i, w := range words {
		if w.Dynamic || isFlag(w.Text) || w.Text == "" || w.Text == said {
			continue
		}
		sure := certain
		if v.full(w.Text) != want {
			if !v.begins || v.names != nil || !strings.HasPrefix(want, strings.ToLower(w.Text)) {
				continue
			}
			sure = possible
		}
		as := slices.Clone(words)
		as[i].Text = said
		best = max(best, min(sure, strictRest(name, pattern, as)))
	}
	return best
}

// withoutGroup returns a program's words without one that changes nothing: a toolchain's name, or
// the command group. It returns nil if there is no such word.
func withoutGroup(program string, words []shell.Word) []shell.Word {
	if len(words) < 2 || words[0].Dynamic {
		return nil
	}
	first := words[0].Text
	switch program {
	case "cargo", "rustc", "rustdoc", "rustfmt":
		if strings.HasPrefix(first, "+") {
			return words[1:]
		}
	case "docker", "podman", "nerdctl":
		for i, w := range words[:len(words)-1] { // docker --context x container run
			switch w.Text {
			case "container", "image", "builder", "buildx", "system":
				return slices.Delete(slices.Clone(words), i, i+1)
			}
		}
	case "yarn":
		switch {
		case first == "npm":
			return words[1:]
		case first == "workspace" && len(words) > 2: // yarn workspace NAME publish
			if words[2].Text == "npm" && len(words) > 3 {
				return words[3:]
			}
			return words[2:]
		}
	case "pnpm":
		if first == "recursive" || first == "multi" {
			return words[1:]
		}
	}
	return nil
}

// numbered are programs whose installed names contain their version: pip3, python3.12. A rule about
// one applies to all.
var numbered = set("pip python ruby perl php lua node gcc g++ clang idle pydoc easy_install")

// scripts maps the names of script files to the programs that they are.
var scripts = map[string]string{"npm-cli.js": "npm", "npx-cli.js": "npx", "yarn.js": "yarn", "yarn.cjs": "yarn", "pnpm.cjs": "pnpm", "pip.pyz": "pip"}

// otherName returns the name that a strict rule may use for a program: without a version, as for
// python3.12 or npm@latest. It is "" if there is none.
func otherName(name string) string {
	if s, ok := scripts[name]; ok {
		return s
	}
	if plain, ok := strings.CutPrefix(name, "zf_"); ok { // zsh's own
		return plain
	}
	if plain, _, ok := strings.Cut(name, "@"); ok && plain != "" {
		return plain
	}
	plain := strings.TrimRight(name, "0123456789.-")
	if plain != name && numbered[plain] {
		return plain
	}
	return ""
}
