package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/node/sandbox"
)

// protected are files that an ordinary project has and that start programs.
var protected = []string{".envrc", ".git/hooks/pre-commit", ".git/config", "sub/deep/.npmrc", ".git/modules/m/config"}

// newProject returns a kit with a Git repository and these files.
func newProject(t *testing.T, missing ...string) *kit {
	t.Helper()
	k := newKit(t, missing...)
	need(t, "git")
	k.protectedOrSkip()
	for _, p := range append([]string{".git/modules/m/HEAD", "file", "sub/other"}, protected...) {
		path := filepath.Join(k.ws, p)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("original"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("sub/deep/.npmrc", filepath.Join(k.ws, ".npmrc")); err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *kit) protectedOrSkip() {
	k.Helper()
	if c := k.box.Report().Check(sandbox.CheckProtected); !c.Enforced {
		k.Skipf("this machine cannot protect files: %s", c.Why)
	}
}

// attacks write a file $F in a folder $D below the workspace in as many ways.
var attacks = map[string]string{
	"write":                   `echo evil >$F`,
	"append":                  `echo evil >>$F`,
	"truncate":                `truncate -s 0 $F`,
	"delete":                  `rm -f $F`,
	"rename over it":          `echo evil >new && mv -f new $F`,
	"rename away":             `mv $F away`,
	"move its folder":         `mv $D moved && cp -r moved $D && echo evil >$F`,
	"move the folder above":   `mv ${F%%/*} moved && mkdir -p $D && echo evil >$F`,
	"remove its folder":       `rm -rf $D; mkdir -p $D; echo evil >$F`,
	"exchange":                `echo evil >new; python3 -c 'import ctypes,sys;sys.exit(ctypes.CDLL(None).renameat2(-100,b"new",-100,sys.argv[1].encode(),2))' $F`,
	"hard link":               `ln $F hard && echo evil >hard`,
	"link the folder":         `ln -s $D l && echo evil >l/${F##*/}`,
	"replace by a link":       `ln -sf /tmp $F`,
	"chmod":                   `chmod 777 $F`,
	"the process's root":      `echo evil >/proc/self/root$PWD/$F`,
	"the process's folder":    `echo evil >/proc/self/cwd/$F`,
	"the parent's root":       `echo evil >/proc/$PPID/root$PWD/$F`,
	"a descriptor":            `exec 3<$F; echo evil >/proc/self/fd/3`,
	"bind mount":              `mount --bind /tmp $D; mount -o remount,rw,bind $F; umount -l $F; echo evil >$F`,
	"unmount":                 `umount -l $F; umount -l $D; echo evil >$F`,
	"nested name space":       `unshare -Urm sh -c "umount -l $F; mount -o remount,rw,bind $F; echo evil >$F"`,
	"python's name space":     `python3 -c 'import ctypes,sys;l=ctypes.CDLL(None);l.unshare(0x10020000);l.umount2(sys.argv[1].encode(),2);open(sys.argv[1],"w")' $F`,
	"join a name space":       `nsenter -t $PPID -m sh -c "echo evil >$PWD/$F"; nsenter -t 1 -m sh -c "echo evil >$PWD/$F"`,
	"openat2":                 `python3 -c 'import ctypes,sys,struct;h=struct.pack("QQQ",1,0,0);sys.exit(ctypes.CDLL(None).syscall(437,-100,sys.argv[1].encode(),h,24)<0)' $F`,
	"open_tree":               `python3 -c 'import ctypes,sys,os;l=ctypes.CDLL(None);f=l.syscall(428,-100,os.getcwd().encode(),0x8001);open("/proc/self/fd/%d/%s"%(f,sys.argv[1]),"w").write("evil")' $F`,
	"mount_setattr":           `python3 -c 'import ctypes,sys,struct;a=struct.pack("QQQQ",0,1,0,0);ctypes.CDLL(None).syscall(442,-100,sys.argv[1].encode(),0,a,32);open(sys.argv[1],"w").write("evil")' $F`,
	"in the background":       `(sleep 0.05; echo evil >$F) & wait`,
	"without its session":     `setsid -w sh -c "echo evil >$F"`,
	"in place":                `sed -i s/original/evil/ $F`,
	"copy attributes":         `cp --preserve=all /etc/hostname $F`,
	"archive":                 `mkdir -p a/$D && echo evil >a/$F && tar -C a -cf a.tar . && tar -xf a.tar --overwrite; tar -xf a.tar --unlink-first --recursive-unlink`,
	"interpreter":             `python3 -c 'import sys;open(sys.argv[1],"w").write("evil")' $F || perl -e 'open F,">",shift;print F "evil"' $F`,
	"memory map":              `python3 -c 'import mmap,os,sys;f=os.open(sys.argv[1],os.O_RDWR);mmap.mmap(f,8)[0:4]=b"evil"' $F`,
	"close its folder":        `chmod 700 $D $F; echo evil >$F`,
	"git's own configuration": `git config --file $F a.b evil`,
}

func TestProtectedFilesSurviveEveryAttack(t *testing.T) {
	k := newProject(t)
	testAttacks(t, k)
}

// testAttacks runs every attack on every file as one command per file, so that one attack may
// prepare another.
func testAttacks(t *testing.T, k *kit) {
	for _, file := range append([]string{".npmrc"}, protected...) {
		t.Run(file, func(t *testing.T) {
			before, err := os.Lstat(filepath.Join(k.ws, file))
			if err != nil {
				t.Fatal(err)
			}
			for name, script := range attacks {
				dir := filepath.Dir(filepath.Join(k.ws, file))
				if name == "close its folder" && dir != k.ws {
					k.run(k.spec("chmod 000 " + dir)) // for the next command
				}
				out, _ := k.run(k.spec("PATH=/usr/bin:/bin:/usr/sbin:/sbin; F=" + file + "; D=$(dirname $F); [ $D = . ] && D=$PWD\n" + script))
				if err := os.Chmod(dir, 0o700); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				data, err := os.ReadFile(filepath.Join(k.ws, file))
				if string(data) != "original" || err != nil {
					t.Fatalf("%s: the file is %q, %v (%s); want it unchanged", name, data, err, out)
				}
				if now, err := os.Lstat(filepath.Join(k.ws, file)); err != nil || !os.SameFile(before, now) || now.Mode() != before.Mode() {
					t.Fatalf("%s: it was replaced: %v; want no error", name, err)
				}
			}
		})
	}
}

// TestFilesAreProtectedFromTheOrdinaryUser repeats the attacks as a user who needs a name space of
// users for it.
func TestFilesAreProtectedFromTheOrdinaryUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("TestProtectedFilesSurviveEveryAttack has run as an ordinary user already")
	}
	cmd := asNobody(t, "")
	cmd.Args = []string{cmd.Path, "-test.run=^(TestProtectedFilesSurviveEveryAttack|TestDenyRulesForPathsHoldForCode|TestDeniedProgramsCannotBeStarted)$", "-test.v"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if text := string(out); strings.Contains(text, "--- SKIP") {
		t.Skip("an ordinary user cannot create name spaces here: " + text)
	}
}

func TestDenyRulesForPathsHoldForCode(t *testing.T) {
	k := newProject(t)
	for _, p := range []string{"secrets/key", "a.pem", "sub/b.pem", "dist/app"} {
		path := filepath.Join(k.ws, p)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("canary"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for script, allowed := range map[string]bool{
		"cat secrets/key": false, "ls secrets": false, "mv secrets s && cat s/key": false, "echo x >secrets/new": false, "rm -r secrets": false,
		"cat a.pem": false, "cat sub/b.pem": false, "cp a.pem b": false, "mv sub other": false, "ln a.pem b": false, "cat /proc/self/cwd/a.pem": false,
		"cat dist/app": true, "echo x >dist/app": false, "rm dist/app": false, "touch dist/new": false, "mv dist d": false,
		"echo x >file && cat file": true, "touch c.pem && cat c.pem && rm c.pem": true, "mkdir s && rmdir s": true,
	} {
		t.Run(script, func(t *testing.T) {
			s := k.spec(script)
			s.Profile.Hidden, s.Profile.ReadOnly = []string{k.ws + "/secrets", k.ws + "/**/*.pem"}, []string{k.ws + "/dist"}
			if out, e := k.run(s); (e.Code == 0) != allowed || !allowed && strings.Contains(out, "canary") {
				t.Errorf("got exit code %d, want success %v (%s)", e.Code, allowed, out)
			}
		})
	}
}
