package cron

import (
	"testing"
	"time"

	"fairlead/gateway/config"
)

func TestEmptyChecklistNeedsNoRun(t *testing.T) {
	for text, want := range map[string]bool{
		"": true,
		"# HEARTBEAT.md\n\n<!-- write\nwhat to look after -->\n": true,
		"# A heading with words\n---\n* * *\n- [ ]\n-\n1.\n":     true,
		"<!-- never closed\n- mail":                              true,
		"# Look\n- mail":                                         false,
		"\uFEFF# HEARTBEAT.md\r\n\r\n- [ ]\r\n":                  true,
		"look after the mail":                                    false,
		"- [ ] mail":                                             false,
		"#!/bin/sh is fine":                                      true,
	} {
		if isEmptyChecklist(text) != want {
			t.Errorf("%q: got empty %v, want %v", text, !want, want)
		}
	}
}

func TestTheIntervalOfAHeartbeat(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30m": 30 * time.Minute, "2h": 2 * time.Hour, "1h30m": 90 * time.Minute, "5s": time.Minute, "1 day": 24 * time.Hour,
		"0": 0, "0m": 0, "": 0, "often": 0, "-5m": 0,
	} {
		t.Run(text, func(t *testing.T) {
			if got, _ := (config.Heartbeat{Every: text}).Interval(); got != want {
				t.Errorf("%q: got %s, want %s", text, got, want)
			}
		})
	}
}

func TestActiveHours(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	for _, c := range []struct {
		start, end, tz, at string
		want               bool
	}{
		{"08:00", "23:00", "", "07:59", false},
		{"08:00", "23:00", "", "08:00", true},
		{"08:00", "23:00", "user", "22:59", true},
		{"08:00", "23:00", "", "23:00", false},
		{"22:00", "06:00", "", "23:30", true},
		{"22:00", "06:00", "", "05:59", true},
		{"22:00", "06:00", "", "06:00", false},
		{"22:00", "06:00", "", "12:00", false},
		{"08:00", "24:00", "", "23:59", true},
		{"08:00", "23:00", "America/New_York", "08:00", false},
		{"08:00", "23:00", "America/New_York", "14:00", true},
		{"", "", "", "03:00", true},
		{"08:00", "", "", "07:59", false},
		{"08:00", "", "", "23:59", true},
		{"", "23:00", "", "00:00", true},
		{"", "23:00", "", "23:00", false},
		{"8", "x", "", "03:00", true},
		{"08:00", "08:00", "", "03:00", true},
	} {
		day, err := time.ParseInLocation("2006-01-02 15:04", "2026-06-01 "+c.at, berlin)
		if err != nil {
			t.Fatal(err)
		}
		if got := isActive(&config.ActiveHours{Start: c.start, End: c.end, Timezone: c.tz}, day); got != c.want {
			t.Errorf("%+v: got active %v, want %v", c, got, c.want)
		}
	}
	if !isActive(nil, time.Now()) {
		t.Error("no hours restrict")
	}
}

func TestHeartbeatAnswerForThePerson(t *testing.T) {
	for answer, want := range map[string]string{
		"HEARTBEAT_OK": "", " **HEARTBEAT_OK**\n": "", "HEARTBEAT_OK.": "", "`HEARTBEAT_OK`": "", "": "", "…": "",
		"HEARTBEAT_OK\n\nDisk is full.": "Disk is full.", "Disk is full.\nHEARTBEAT_OK": "Disk is full.", "Disk is full.": "Disk is full.",
		"The word HEARTBEAT_OK is known.": "The word HEARTBEAT_OK is known.",
	} {
		if got := textWithout(heartbeatOK, answer); got != want {
			t.Errorf("%q: %q, want %q", answer, got, want)
		}
	}
}
