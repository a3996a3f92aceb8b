package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tempKit is a workspace with a private /tmp, and a folder of the test in the system's.
type tempKit struct {
	*testing.T
	dir, foreign string // the private folder; the name of the test's folder
	outside      string
}

func newTempKit(t *testing.T) *tempKit {
	t.Helper()
	system, err := os.MkdirTemp("/tmp", "fairlead-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(system) })
	k := &tempKit{T: t, dir: t.TempDir(), foreign: filepath.Base(system), outside: filepath.Join(t.TempDir(), "secret")}
	for path, text := range map[string]string{filepath.Join(system, "file"): "foreign", k.outside: canary} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	k.link("/dev/mqueue/"+k.foreign, k.foreign)
	return k
}

func (k *tempKit) link(target, name string) {
	k.Helper()
	if err := os.Symlink(target, filepath.Join(k.dir, name)); err != nil {
		k.Fatal(err)
	}
}

func (k *tempKit) open(c Config) *Root {
	k.Helper()
	c.Dir, c.PrivateTemp = k.TempDir(), k.dir
	r, err := c.Open()
	if err != nil {
		k.Fatal(err)
	}
	k.Cleanup(func() { r.Close() })
	return r
}

func (k *tempKit) read(r *Root, path string) (string, error) {
	p, err := r.Resolve(path)
	if err != nil {
		return "", err
	}
	data, _, err := r.ReadFile(p, 1<<20)
	return string(data), err
}

func (k *tempKit) write(r *Root, path, text string) {
	k.Helper()
	p, err := r.Resolve(path)
	if err != nil {
		k.Fatal(err)
	}
	unlock, err := r.Lock(context.Background(), p)
	if err != nil {
		k.Fatal(err)
	}
	defer unlock()
	if _, err := r.Write(p, []byte(text), "", nil); err != nil {
		k.Errorf("Write %s: got %v, want success", path, err)
	}
}

func (k *tempKit) names(r *Root, path string) (list []string) {
	k.Helper()
	d, err := r.OpenDir(Path{Abs: path})
	if err != nil {
		k.Fatal(err)
	}
	defer d.Close()
	if err := d.Each(func(e Entry) bool { list = append(list, e.Name); return true }); err != nil {
		k.Fatal(err)
	}
	return list
}

func TestPrivateTempIsOneViewWithTheSystems(t *testing.T) {
	for name, c := range map[string]Config{"whole disk": {WholeDisk: true}, "granted": {Grants: []Grant{{Dir: "/tmp"}}}} {
		t.Run(name, func(t *testing.T) {
			k := newTempKit(t)
			r := k.open(c)
			own := "own-" + k.foreign
			k.write(r, "/tmp/"+own, "new")
			k.write(r, "/tmp/"+own+"-d/sub/file", "deep")
			k.write(r, "/tmp/"+k.foreign+"/made", "made")
			for path, want := range map[string]string{
				filepath.Join(k.dir, own): "new", filepath.Join(k.dir, own+"-d/sub/file"): "deep",
				filepath.Join("/tmp", k.foreign, "made"): "made",
			} {
				if data, err := os.ReadFile(path); err != nil || string(data) != want {
					t.Errorf("the file %s: got %q (%v), want %q", path, data, err, want)
				}
			}
			for path, want := range map[string]string{"/tmp/" + own: "new", "/tmp/" + k.foreign + "/file": "foreign"} {
				if got, err := k.read(r, path); err != nil || got != want {
					t.Errorf("Read %s: got %q (%v), want %q", path, got, err, want)
				}
			}
			names := k.names(r, "/tmp")
			for _, want := range []string{own, k.foreign} {
				if n := len(slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s != want })); n != 1 {
					t.Errorf("/tmp lists %s %d times, want once", want, n)
				}
			}
			if got := k.names(r, "/tmp/"+k.foreign); len(got) != 2 {
				t.Errorf("a folder of the system: got %q, want 2 files", got)
			}
			e := r.Entries()
			at := func(name string) Path { return Path{Abs: filepath.Join("/tmp", name)} }
			if _, err := e.Move(at(own), at(own+"-moved")); err != nil {
				t.Errorf("Move: got %v, want success", err)
			}
			if _, err := e.Mkdir(at(k.foreign)); !errors.Is(err, fs.ErrExist) {
				t.Errorf("Mkdir of a folder of the system: got %v, want that it exists", err)
			}
			if _, err := os.Stat(filepath.Join(k.dir, own+"-moved")); err != nil {
				t.Errorf("the moved file: got %v, want it in the private folder", err)
			}
		})
	}
}

// TestPrivateTempObeysTheRulesOfTmp tries to reach what the file tools cannot reach by what a command
// has made in its /tmp.
func TestPrivateTempObeysTheRulesOfTmp(t *testing.T) {
	k := newTempKit(t)
	k.link(k.outside, "link")
	k.link(filepath.Dir(k.outside), "folder")
	k.link(strings.Repeat("../", 20)+k.outside, "relative")
	k.link("/dev/mqueue/../.."+k.outside, "device")
	k.link("link", "chain")
	planted := []string{"link", "folder/secret", "relative", "device", "chain"}
	if err := os.WriteFile(filepath.Join(k.dir, "file"), []byte(canary), 0o600); err != nil {
		t.Fatal(err)
	}
	restricted := k.open(Config{})
	for _, name := range append(planted, "file") {
		if got, err := k.read(restricted, "/tmp/"+name); err == nil {
			t.Errorf("Read /tmp/%s in a workspace: got %q, want a refusal", name, got)
		}
	}
	view := restricted.CommandView()
	if !view.IsPrivate("/tmp/file") || view.IsPrivate("/tmp/"+k.foreign) || view.IsPrivate("/tmp/"+k.foreign+"/new") {
		t.Error("IsPrivate is wrong about a private file or about the system's")
	}
	wide, err := restricted.WithGrant(Grant{Dir: "/tmp"})
	if err != nil {
		t.Fatal(err)
	}
	defer wide.Close()
	if got, err := k.read(wide, "/tmp/file"); err != nil || got != canary {
		t.Errorf("Read with /tmp granted: got %q (%v), want the file", got, err)
	}
	if strings.HasPrefix(k.outside, "/tmp/") {
		t.Skip("the tests' own folders are in /tmp, where the targets of the links may be read")
	}
	for _, name := range planted {
		if got, err := k.read(wide, "/tmp/"+name); err == nil {
			t.Errorf("Read /tmp/%s with /tmp granted: got %q, want a refusal", name, got)
		}
	}
}

// TestPrivateTempSurvivesChangesDuringAccess reads while a folder and a link to a secret take each
// other's place.
func TestPrivateTempSurvivesChangesDuringAccess(t *testing.T) {
	k := newTempKit(t)
	secret := filepath.Dir(k.outside)
	r := k.open(Config{WholeDisk: true}).WithTarget("/tmp/swap/secret")
	real, other, link := filepath.Join(k.dir, "swap"), filepath.Join(k.dir, "other"), filepath.Join(k.dir, "evil")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "secret"), []byte("harmless"), 0o600); err != nil {
		t.Fatal(err)
	}
	k.link(secret, "evil")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			os.Rename(other, real)
			os.Rename(real, other)
			os.Rename(link, real)
			os.Rename(real, link)
		}
	}()
	for range 3000 {
		if got, err := k.read(r, "/tmp/swap/secret"); err == nil && got != "harmless" {
			t.Errorf("Read during a swap: got %q, want the approved file or an error", got)
			break
		}
	}
	close(stop)
	<-stopped
}
