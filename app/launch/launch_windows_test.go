package launch

import "testing"

func TestRegistryEntriesAreWrittenAndRemoved(t *testing.T) {
	p := Program{Path: `C:\Program Files\Fairlead\fairlead.exe`, Login: []string{"--hidden"}, Args: []string{"--home", `D:\my data`}}
	if p.AtLogin() || p.Links() {
		t.Fatal("both are on before they were set")
	}
	if err := p.SetAtLogin(true); err != nil || !p.AtLogin() || p.Links() {
		t.Fatalf("got %v; want no error, AtLogin and not Links", err)
	}
	if err := p.SetLinks(true); err != nil || !p.Links() {
		t.Fatalf("got %v; want no error and Links", err)
	}
	if got, want := value(openKey, ""), `"C:\Program Files\Fairlead\fairlead.exe" --home "D:\my data" -- "%1"`; got != want {
		t.Errorf("value: got %q, want %q", got, want)
	}
	for range 2 { // the second time there is nothing to remove
		if err := p.SetAtLogin(false); err != nil || p.AtLogin() {
			t.Errorf("got %v; want no error and not AtLogin", err)
		}
		if err := p.SetLinks(false); err != nil || p.Links() {
			t.Errorf("got %v; want no error and not Links", err)
		}
	}
	if value(classKey, "") != "" {
		t.Error("the class is still there")
	}
}
