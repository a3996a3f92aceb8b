// Notices collects the licences of all modules and data in Fairlead's programs: their full texts in
// THIRD_PARTY_NOTICES.txt and one line each in app/settings/licences.txt, which the About page
// shows.
//
//	go run ./packaging/notices          write both files
//	go run ./packaging/notices -check   exit with status 1 when they are out of date
package main

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	textsFile = "THIRD_PARTY_NOTICES.txt"
	listFile  = "app/settings/licences.txt"
)

// programs and systems are the programs that Fairlead ships, and their systems. Fyne needs cgo, so
// packages are listed as if there were a C compiler.
var (
	programs = []string{".", "./gateway/cmd/fairlead", "./node/cmd/fairlead-node"}
	systems  = []string{"linux", "windows", "darwin", "freebsd"}
)

// data are the folders of others' data and programs in this repository, which have licence files,
// by origin.
var data = map[string]string{"unicode.org/ucd": "node/search/pattern", "xtermjs.org": "gateway/service/console/xterm"}

// licenceFile matches the names of a module's licence files, which must be redistributed.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|patents)`)

// kinds identify a licence by one of its sentences. The first match counts.
var kinds = []struct{ name, sentence string }{
	{"Unicode-3.0", "UNICODE LICENSE V3"},
	{"AGPL", "GNU AFFERO GENERAL PUBLIC LICENSE"},
	{"GPL", "GNU GENERAL PUBLIC LICENSE"},
	{"MPL-2.0", "Mozilla Public License"},
	{"Apache-2.0", "Apache License"},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose"},
	{"BSD-3-Clause", "may be used to endorse or promote products"},
	{"BSD-2-Clause", "Redistributions in binary form must reproduce"},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"Unlicense", "This is free and unencumbered software released into the public domain"},
}

func main() {
	check := flag.Bool("check", false, "fail when the files are out of date, and write nothing")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	modules, err := shippedModules()
	if err != nil {
		return err
	}
	maps.Copy(modules, data)
	var texts, list bytes.Buffer
	texts.WriteString("Fairlead contains these modules and data. Each is used under its own licence, which follows.\n")
	for _, module := range slices.Sorted(maps.Keys(modules)) {
		kind, text, err := licence(module, modules[module])
		if err != nil {
			return err
		}
		fmt.Fprintf(&list, "%s %s\n", module, kind)
		fmt.Fprintf(&texts, "\n%s\n%s (%s)\n\n%s", strings.Repeat("=", 80), module, kind, text)
	}
	for name, text := range map[string][]byte{textsFile: texts.Bytes(), listFile: list.Bytes()} {
		old, err := os.ReadFile(name)
		switch {
		case err == nil && bytes.Equal(old, text):
		case check:
			return fmt.Errorf("%s is out of date; run: go run ./packaging/notices", name)
		default:
			if err := os.WriteFile(name, text, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// shippedModules returns the folders of the modules of any program on any system, by path.
func shippedModules() (map[string]string, error) {
	found := map[string]string{}
	for _, system := range systems {
		const format = "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}"
		cmd := exec.Command("go", append([]string{"list", "-e", "-deps", "-f", format}, programs...)...)
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=1")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w\n%s", system, err, stderr.Bytes())
		}
		for line := range strings.Lines(string(out)) {
			if module, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
				found[module] = dir
			}
		}
	}
	return found, nil
}

// licence returns the kind of a module's licence and the text of all its licence files in dir.
func licence(module, dir string) (kind, text string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", "", err
	}
	var b strings.Builder
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", "", err
		}
		said := strings.Join(strings.Fields(string(data)), " ")
		for _, k := range kinds {
			if kind == "" && strings.Contains(said, k.sentence) {
				kind = k.name
			}
		}
		b.WriteString(strings.TrimRight(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n") + "\n\n")
	}
	switch kind {
	case "":
		return "", "", fmt.Errorf("%s has no licence that is known here", module)
	case "GPL", "AGPL":
		return "", "", fmt.Errorf("%s is under the %s and must not be linked", module, kind)
	}
	return kind, b.String(), nil
}
