package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// daily are commands of ordinary work, in the order in which they run. Those that begin with "no:"
// are refused, because they change what starts programs. Others begin with the paths that the
// policy lifts for them.
const daily = `
git status
git add -A
git commit -qm first
git log --oneline -1
git show --stat HEAD
git diff HEAD
git branch topic
git checkout -q topic
echo 1 >one && git add one && git commit -qm one
git checkout -q main
git merge -q --no-edit topic
git switch -q -c second
echo 2 >two && git add two && git commit -qm two
git rebase -q main
git commit -q --amend -m 'two again'
echo change >>file && git stash -q
git stash list
git stash pop -q
git checkout -q -- file
git reset -q --hard HEAD~1
git reflog -1
git cherry-pick HEAD@{1}
git revert --no-edit HEAD
git tag v1
git tag -a v2 -m annotated
git describe
git fetch -q origin
git push -q origin main
git pull -q --ff-only origin main
git remote -v
git ls-files
git grep -n original || true
git blame file
git rev-parse HEAD
git clone -q . copy
git worktree add -q trees/a -b a
cd trees/a && echo 3 >three && git add three && git commit -qm three
git worktree list
git mv one uno && git commit -qm moved
git rm -q uno && git commit -qm removed
git clean -fdx -e trees
git bisect start HEAD HEAD~1 && git bisect reset
git gc -q
git repack -adq
git prune
git fsck
no:git worktree remove trees/a
.git/worktrees,trees/a:rm -rf trees/a && git worktree prune && git worktree add -q trees/a a && git worktree remove trees/a
.git/config:git push -q origin HEAD:other && git checkout -q -b tracking origin/other && git checkout -q - && git branch -q -D tracking
.git/config:git remote add more $GRANTED/origin.git && git remote remove more
no:rm -r copy
copy:rm -rf copy
git archive HEAD >archive.tar
git format-patch -1 -o patches
git apply --check patches/*.patch || true
git bundle create -q all.bundle --all
git init -q new
git config --get user.name
git notes add -m note
git update-index --refresh
git hash-object -w file
git symbolic-ref HEAD
git submodule status
git sparse-checkout list || true
mkdir -p build && cp file build/ && rm -r build
mv file file2 && mv file2 file
ln file hard && rm hard
ln -s file link && rm link
mkdir -p a/b/c && touch a/b/c/d && mv a z && rm -r z
mkdir sub/new && mv sub/new sub/newer && rmdir sub/newer
cp .envrc copy.envrc && rm copy.envrc
cat .envrc .git/config .vscode/settings.json
sed -i s/x/y/ file
tar -cf all.tar sub && tar -xf all.tar && rm all.tar
find . -name '*.go' -newer file
touch Makefile && printf 'all:\n\techo made >made\n' >Makefile && make -s
sh -c 'trap "" TERM; sleep 0 & wait'
f=$(mktemp) && echo x >$f && rm $f
python3 -m venv --without-pip .venv && .venv/bin/python -c 'print(1)' && rm -r .venv
mkdir -p node_modules/.bin node_modules/p && touch node_modules/p/.npmrc && mv node_modules/p node_modules/.p-1
rm -rf node_modules
printf '{"a":1}' >package.json && chmod 600 package.json
no:git config user.name other
no:git config core.hooksPath evil
no:rm -rf .git
no:mv .git git
no:echo evil >.envrc
`

func TestDailyWorkIsUndisturbed(t *testing.T) {
	k := newKit(t)
	need(t, "git")
	need(t, "make")
	k.protectedOrSkip()
	setup := `git init -q -b main && git init -q --bare $GRANTED/origin.git && git remote add origin $GRANTED/origin.git &&
git config user.name n && git config user.email e && mkdir -p .vscode sub && echo original >file && echo x >sub/x &&
echo 'export A=1' >.envrc && echo '{}' >.vscode/settings.json && printf 'trees\ncopy\nnew\n' >.gitignore && echo true >.git/hooks/post-checkout`
	s := k.spec(setup)
	s.Profile.Mode = "full"
	if out, e := k.run(s); e.Code != 0 {
		t.Fatalf("preparing: %s", out)
	}
	for line := range strings.SplitSeq(strings.TrimSpace(daily), "\n") {
		command, refused := strings.CutPrefix(line, "no:")
		paths, rest, ok := strings.Cut(command, ":")
		s := k.spec(command)
		if ok && !strings.Contains(paths, " ") {
			command = rest
			s = k.spec(command)
			for path := range strings.SplitSeq(paths, ",") {
				s.Profile.Lifted = append(s.Profile.Lifted, filepath.Join(k.ws, path))
			}
		}
		out, e := k.run(s)
		if (e.Code != 0) != refused {
			t.Errorf("%s: exit %d, refused should be %v (%s)", command, e.Code, refused, out)
		}
	}
	if data, err := os.ReadFile(filepath.Join(k.ws, ".envrc")); err != nil || string(data) != "export A=1\n" {
		t.Errorf("the protected file is %q, %v", data, err)
	}
}
