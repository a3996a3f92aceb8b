package shell

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"fairlead/node/access"
	"fairlead/node/sandbox"
)

// TestEveryProgramsFailureIsExplained has ordinary programs write protected files in vain. The first
// word of each is the program.
func TestEveryProgramsFailureIsExplained(t *testing.T) {
	useShell(t)
	b := newBoxedBench(t, sandbox.WorkspaceWrite)
	if c := b.jobs.confinement.box.Report().Check(sandbox.CheckProtected); !c.Enforced {
		t.Skipf("this machine cannot protect files: %s", c.Why)
	}
	t.Setenv("HOME", t.TempDir())
	git := exec.CommandContext(t.Context(), "git", "init", "-q", b.WS.Dir())
	if out, err := git.CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, out)
	}
	for name, text := range map[string]string{
		".envrc": "old\n", ".npmrc": "old=1\n", "sub/.envrc": "old\n", "x": "new\n", "d/.envrc": "new\n", "Makefile": "all:\n\tcp x .envrc\n",
		"p.diff": "--- a/.envrc\n+++ b/.envrc\n@@ -1 +1 @@\n-old\n+new\n",
	} {
		b.File(name, text)
	}
	for _, command := range []string{
		"cp x .envrc", "mv x .envrc", "tee .envrc <x", "sed -i s/old/new/ .envrc", "rm -f .envrc", "ln -sf x .envrc", "dd if=x of=.envrc", "truncate -s 0 .envrc", "install x .envrc",
		"chmod 600 .envrc", "touch .envrc", "git config a.b c", "git add x; git mv -f x .envrc", "git apply p.diff", "git branch -m x; git config --unset core.bare",
		"npm config set --location=project save-exact=true", "node -e 'require(\"fs\").writeFileSync(\".envrc\", \"\")'", "node -e 'try { require(\"fs\").writeFileSync(\".envrc\", \"\") } catch { process.exit(2) }'",
		"python3 -c 'open(\".envrc\", \"w\")'", "python3 -c 'import os; os.replace(\"x\", \".envrc\")'", "perl -e 'open F, \">\", \".envrc\" or die $!'", "perl -e 'open F, \">\", \".envrc\" or exit 1'", "perl -pi -e s/old/new/ .envrc",
		"ruby -e 'File.write(\".envrc\", 1)'", "php -r 'file_put_contents(\".envrc\", 1) or exit(1);'", "make", "tar cf - -C d .envrc | tar xf -", "rsync -ac d/.envrc .envrc", "vim -es -c 'wq! .envrc' x", "printf 'w\\n' | ed -s .envrc",
		"patch -i p.diff", "jq -n 1 >.envrc", "awk 'BEGIN { print 1 > \".envrc\" }'", "curl -so .envrc file:///etc/hostname", "openssl rand -out .envrc 3", "sqlite3 .envrc 'create table t (a)'", "busybox cp x .envrc",
		"cd sub && echo x >.envrc", "cd sub && cp ../x .envrc 2>/dev/null", "(cd sub; rm .envrc)", "env -C sub tee .envrc <x", "cp x .envrc 2>/dev/null", "echo x 2>/dev/null >.envrc", "mv .git g 2>/dev/null", "sh -c 'echo x >.envrc'", "bash -c 'echo x >.envrc' 2>/dev/null",
	} {
		t.Run(command, func(t *testing.T) {
			program, _, _ := strings.Cut(command, " ")
			if _, err := exec.LookPath(program); err != nil && program[0] != '(' && program != "cd" {
				t.Skip(err)
			}
			out, err := runBash(t.Context(), b.WS, b.jobs, access.Call{}, bashIn{Command: command})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.Note, "protected, because") {
				t.Errorf("got %s with the note %q, want that a file is protected (%s)", out.Status, out.Note, out.Output)
			}
			if err := os.WriteFile(b.WS.Dir()+"/x", []byte("new\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestFailuresInOtherLanguagesAreExplained(t *testing.T) {
	protected := []string{"/ws/.envrc", "/ws/.git/hooks", "/ws/sub/.npmrc", "/ws/sub/x/y.conf"}
	for output, want := range map[string]string{
		"cp: reguläre Datei „.envrc“ kann nicht angelegt werden: Das Dateisystem ist nur lesbar":                       ".envrc",
		"cp: impossible de créer le fichier standard « .envrc » : Système de fichiers accessible en lecture seulement": ".envrc",
		"bash: .envrc: 読み込み専用ファイルシステムです":                                                                               ".envrc",
		"cp: 无法创建普通文件“sub/.npmrc”：只读文件系统":                                                                              "sub/.npmrc",
		"mv: kann '.git' nicht verschieben: Das Gerät ist belegt":                                                      ".git",
		"mv: kann 'sub' nicht verschieben: Das Gerät ist belegt":                                                       "",
		"drwxr-xr-x 2 a a 4096 12:00 .git":                                                                             "",
		"Fehler: Ürenvrc.envrc fehlt":                                                                                  "",
	} {
		if got := strings.Join(suspectPaths(output, "x", "/ws", protected), " "); got != want {
			t.Errorf("%s: got %q, want %q", output, got, want)
		}
	}
}

func TestAFailureThatOnlyReadsNeedsNoQuestion(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/sub", 0o700); err != nil {
		t.Fatal(err)
	}
	protected := []string{dir + "/.envrc", dir + "/.git/hooks", dir + "/sub/.npmrc"}
	for command, want := range map[string]string{
		"cat .envrc; false": "", "grep -q x sub/.npmrc": "", "git -C sub diff --exit-code .npmrc": "", ". ./.envrc && false": "", "sort <.envrc && false": "", "cd sub && false": "", "npm test": "",
		"cat x >.envrc": ".envrc", "cd sub && cp x .npmrc": "sub/.npmrc", "X=1 sudo -n tee sub/.npmrc": "sub/.npmrc", "python3 -c 'open(\".envrc\", \"w\")'": ".envrc", "mv .git g": ".git", "mv sub s2": "",
		"dd if=x of=.envrc": ".envrc", "cp x my.envrc": "", "$COPY x .envrc": ".envrc", "/bin/cat .envrc; false": "", "rm " + dir + "/.envrc": ".envrc",
	} {
		if got := strings.Join(suspectPaths("", command, dir, protected), " "); got != want {
			t.Errorf("%s: got %q, want %q", command, got, want)
		}
	}
}
