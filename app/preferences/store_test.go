package preferences

import (
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestPrefsSurviveAndNeverStopTheStart(t *testing.T) {
	home := t.TempDir()
	log := slog.New(slog.DiscardHandler)
	p := Open(home, log)
	for i := range 100 {
		p.Update(func(r *Preferences) { r.Width = float32(i); r.Chat = "agent:main:x" })
	}
	p.Close()
	p.Update(func(r *Preferences) { r.Width = 1 }) // after the end: ignored without harm
	p = Open(home, log)
	if got := p.Get(); got.Width != 99 || got.Chat != "agent:main:x" {
		t.Errorf(`remembered: got %+v; want Width 99 and Chat "agent:main:x"`, got)
	}
	p.Close()
	if err := os.WriteFile(filepath.Join(home, "windows.json"), []byte("{not json"), 0o600); err != nil {
		t.Fatal(err)
	}
	p = Open(home, log)
	defer p.Close()
	if !reflect.DeepEqual(p.Get(), Preferences{}) {
		t.Errorf("a broken file gave %+v", p.Get())
	}
}
