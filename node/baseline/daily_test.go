package baseline

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDailyWorkIsNotDisturbed runs real programs. Nothing that they write may be put back.
func TestDailyWorkIsNotDisturbed(t *testing.T) {
	if home, err := os.UserHomeDir(); err == nil && os.Getenv("RUSTUP_HOME") == "" {
		t.Setenv("RUSTUP_HOME", filepath.Join(home, ".rustup"))
	}
	k := newKit(t)
	home, err := os.MkdirTemp("", "home")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) }) // go may still write statistics
	t.Setenv("HOME", home)
	config := filepath.Join(home, "gitconfig")
	if err := os.WriteFile(config, []byte("[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	k.write("remote/.vscode/settings.json", "{}")
	k.write("remote/.pre-commit-config.yaml", "repos: []")
	k.write("package/package.json", `{"name": "tool", "version": "1.0.0", "bin": {"ls": "cli.js", "tool": "cli.js"}}`)
	k.write("package/cli.js", "#!/usr/bin/env node\n")
	git := "git -c user.name=a -c user.email=a@b -c protocol.file.allow=always "
	hg := "HGRCPATH= hg --config ui.username=a --config phases.new-commit=draft "
	for _, c := range []struct{ program, command string }{
		{"git", git + "-C remote init -q && " + git + "-C remote add . && " + git + "-C remote commit -qm a"},
		{"git", git + "init -q one"},
		{"git", git + "clone -q remote two"},
		{"git", "cd two && " + git + "checkout -qb x && touch f && git add f && " + git + "commit -qm f && " + git + "rebase -q origin/HEAD"},
		{"git", "cd two && git remote add other ../remote && git fetch -q other && git branch -u origin/HEAD && git stash list"},
		{"git", "cd two && git worktree add -q ../three -b y"},
		{"git", "cd two && " + git + "submodule --quiet add ../remote sub && " + git + "commit -qm sub"},
		{"git", git + "clone -q --bare remote four.git && " + git + "clone -q --recurse-submodules two five"},
		{"git", "rm -rf one && mv five six && rm -rf three && git -C two worktree prune"},
		{"python3", "python3 -m venv .venv"},
		{"python3", "python3 -m venv --without-pip sub/env"},
		{"python3", "rm .venv/bin/pip && rm -rf .venv"},
		{"virtualenv", "virtualenv -q env1"},
		{"virtualenv", "virtualenv -q --no-seed --prompt 'my env' 'env 2'"},
		{"uv", "uv venv -q --offline --prompt 'my env' env3"},
		{"uv", "uv init -q --offline tool && cd tool && uv sync -q --offline && uv run -q --offline python -c 'print(1)'"},
		{"npm", "mkdir -p web && cd web && npm init -y >/dev/null && npm install --offline --no-audit --no-fund ../package"},
		{"npm", "cp -r package package2 && cd package2 && mv cli.js new.js && sed -i s/cli.js/new.js/ package.json && cd ../web && npm install --offline --no-audit --no-fund ../package2"},
		{"npm", "cd web && npm uninstall --offline --no-audit --no-fund tool"},
		{"pnpm", "mkdir -p web2 && cd web2 && echo '{}' >package.json && pnpm add --offline --silent file:../package && pnpm remove --silent tool"},
		{"yarn", "mkdir -p web3 && cd web3 && echo '{}' >package.json && yarn add --offline --silent file:../package && yarn remove --silent tool"},
		{"git", "cd two && " + git + "submodule --quiet deinit -f sub && rm -f .git/hooks/*.sample"},
		{"cargo", "cargo new -q box1"},
		{"go", "mkdir -p mod && cd mod && go mod init example.com/mod"},
		{"uv", "uv venv -q --offline --relocatable env4"},
		{"svn", "svnadmin create repo && svn co -q file://$PWD/repo wc && cd wc && echo a >a && svn add -q a && svn commit -qm one && svn up -q && svn mv -q a b && svn commit -qm two"},
		{"hg", "hg init hg && cd hg && echo a >a && " + hg + "add a && " + hg + "commit -qm a"},
		{"hg", hg + "clone -q hg hg2 && cd hg && echo b >a && " + hg + "commit -qm b && cd ../hg2 && " + hg + "pull -qu"},
		{"hg", "cd hg2 && " + hg + "branch -q x && " + hg + "commit -qm x && " + hg + "update -q default && " + hg + "bookmark m && " + hg + "phase -fs tip"},
		{"brz", "export BRZ_HOME=$HOME BRZ_EMAIL=a@b && brz init -q brz && cd brz && echo a >a && brz add -q a && brz commit -qm a && brz branch -q . ../brz2 && cd ../brz2 && brz pull -q"},
		{"fossil", "fossil init -A a f.fossil >/dev/null && mkdir fossil && cd fossil && fossil open ../f.fossil >/dev/null && echo a >a && fossil add a >/dev/null && fossil commit -m a >/dev/null"},
		{"hg", hg + "--config extensions.share= share -q hg hg3 && " + hg + "clone -qU hg hg4 && rm -rf hg4"},
	} {
		t.Run(strings.ReplaceAll(c.command, "/", "_"), func(t *testing.T) {
			version := "--version"
			if c.program == "go" {
				version = "version"
			}
			if out, err := exec.CommandContext(t.Context(), c.program, version).CombinedOutput(); err != nil {
				t.Skipf("%s does not work here: %v %.100s", c.program, err, out)
			}
			run := k.Begin(Command{ID: "1", Text: c.command})
			cmd := exec.CommandContext(t.Context(), "sh", "-ec", c.command)
			cmd.Dir = k.dir
			out, err := cmd.CombinedOutput()
			for _, c := range run.End().PutBack {
				t.Errorf("got %s %s put back, want nothing: %s", c.Path, c.Kind, c.Problem)
			}
			if err != nil {
				t.Errorf("got error %v, want none: %s", err, out)
			}
		})
	}
}

// TestHooksOfPackagesAreFound installs a package that makes a hook, as husky does.
func TestHooksOfPackagesAreFound(t *testing.T) {
	for _, program := range []string{"npm", "git"} {
		if out, err := exec.CommandContext(t.Context(), program, "--version").CombinedOutput(); err != nil {
			t.Skipf("%s does not work here: %v %.100s", program, err, out)
		}
	}
	k := newKit(t)
	k.write("package/package.json", `{"name": "husky", "version": "9.0.0", "bin": {"husky": "cli.js"}}`)
	k.write("package/cli.js", `#!/usr/bin/env node
const fs = require("fs"), run = require("child_process").execSync
run("git config core.hooksPath .husky/_")
fs.mkdirSync(".husky/_", {recursive: true})
fs.writeFileSync(".husky/_/pre-commit", "#!/bin/sh\n", {mode: 0o755})
fs.writeFileSync(".husky/pre-commit", "npm test\n")
`)
	k.write("web/package.json", `{"name": "web", "version": "1.0.0", "scripts": {"prepare": "husky"}, "devDependencies": {"husky": "file:../package"}}`)
	runs := func(command string, want map[string]string) {
		t.Helper()
		run := k.Begin(Command{ID: "1", Text: command})
		cmd := exec.CommandContext(t.Context(), "sh", "-ec", command)
		cmd.Dir = k.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("got error %v, want none: %s", err, out)
		}
		k.expect(run.End(), want)
	}
	runs("git init -q web", nil)
	runs("cd web && npm install --offline --no-audit --no-fund", map[string]string{
		"web/.git/config": "changed", "web/.husky/pre-commit": "created", "web/.husky/_/pre-commit": "created",
	})
}

func TestHarmfulSettingsAreFound(t *testing.T) {
	for config, want := range map[string]int{
		"[core]\n\tbare = false\n[remote \"o]\\\"\"]\n\turl = /x\n[branch.x]\nremote = o\n": 0,
		"[user]\n\tname = a; b # c\n; comment\n":                                            0,
		"[core]\n\tfsmonitor = ./x\n":                                                       1, "[core]fsmonitor=x": 1, "[CORE]\nHooksPath = x": 1, "[alias]\nst = !x": 1, "[include]\npath = x": 1,
		"[includeIf \"gitdir:/\"]\npath = x": 1, "[core]\nbare = x \\\nfsmonitor = y": 2, "[core\nbare = x": 2, "[filter \"a\"]\nclean = x": 1,
		"[remote \"a\"]\nurl = ext::sh": 1, "[remote \"a\"]\nuploadpack = x": 1, "[submodule \"a\"]\nupdate = !x": 1, "[submodule \"a\"]\nupdate = merge": 0,
		"\ufeff[core]\npager = x": 2, "[core]\r\n\tsshCommand = x\r\n": 1, "[credential]\nhelper = x": 1, "[diff \"a\"]\ntextconv = x": 1,
		"[url \"ext::sh\"]\ninsteadOf = x": 1,
	} {
		if got := harmfulSettings([]byte(config)); len(got) != want {
			t.Errorf("%q: got %q, want %d", config, got, want)
		}
	}
}

func TestProgramsOfEnvironmentsAreChecked(t *testing.T) {
	k := newKit(t)
	k.write(".venv/pyvenv.cfg", "home = /usr/bin\n")
	k.write(".venv/bin/activate", "x")
	k.write("node_modules/a/cli.js", "x")
	run := k.Begin(Command{ID: "1"})
	if out, err := exec.CommandContext(t.Context(), "python3", "-m", "venv", "--without-pip", k.at("real")).CombinedOutput(); err != nil {
		t.Skipf("the venv module does not work here: %v %s", err, out)
	}
	k.expect(run.End(), nil)
	entry := "#!" + k.at(".venv/bin/python3") + "\nimport sys\nfrom tool.cli import main\nif __name__ == '__main__':\n    sys.argv[0] = sys.argv[0].removesuffix('.exe')\n    sys.exit(main())\n"
	for path, text := range map[string]string{
		".venv/bin/tool": "anything", ".venv/bin/ls": entry, ".venv/lib/python3/site-packages/a.pth": "../src\n",
		".venv/lib/python3/site-packages/b.pth": "import _virtualenv\n", "node_modules/.bin/tool": "anything",
	} {
		run := k.Begin(Command{ID: "1"})
		k.write(path, text)
		k.expect(run.End(), nil)
	}
	activate, err := os.ReadFile(k.at("real/bin/activate"))
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{{"\n", "\nevil\n"}, {k.at("real"), k.at("real") + "\" /evil \""}, {"bin", "$(evil)"}, {"(real)", "`evil`"}, {"\nexport", "; evil\nexport"}} {
		changed := strings.Replace(string(activate), change[0], change[1], 1)
		if changed == string(activate) {
			continue // not in the scripts of this version
		}
		run := k.Begin(Command{ID: "1"})
		k.write("real/bin/activate", changed)
		k.expect(run.End(), map[string]string{"real/bin/activate": "changed"})
	}
	for path, text := range map[string]string{
		".venv/bin/ls": "#!/bin/sh\nevil", ".venv/bin/cat": entry + "import evil\n", ".venv/bin/activate": "evil", "node_modules/.bin/ls": "evil",
		".venv/lib/python3/site-packages/c.pth": "import evil\n", ".venv/pyvenv.cfg": "home = " + k.dir,
	} {
		run := k.Begin(Command{ID: "1"})
		_, err := os.Lstat(k.at(path))
		k.write(path, text)
		want := map[string]string{path: "created"}
		if err == nil {
			want[path] = "changed"
		}
		k.expect(run.End(), want)
	}
}
