package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/cron/when"
)

var errNoID = &exitError{code: exitUsage, err: errors.New("the ID is empty; give at least its first characters")}

// lengthFlag is a flag for a duration, written as everywhere in the gateway: 30m, 24h, 2 days. 0
// means none.
type lengthFlag time.Duration

func (l *lengthFlag) Set(text string) error {
	if text == "0" {
		*l = 0
		return nil
	}
	d, err := when.Parse(text)
	*l = lengthFlag(d)
	return err
}

func (l *lengthFlag) String() string {
	if *l == 0 {
		return ""
	}
	return time.Duration(*l).String()
}

func (l *lengthFlag) Type() string { return "time" }

// choiceFlag is a flag with a fixed set of values.
type choiceFlag[T ~string] struct {
	into  *T
	legal []T
}

func (c choiceFlag[T]) Set(text string) error {
	if !slices.Contains(c.legal, T(text)) {
		return errors.New("must be " + c.words())
	}
	*c.into = T(text)
	return nil
}

func (c choiceFlag[T]) words() string {
	list := make([]string, len(c.legal))
	for i, w := range c.legal {
		list[i] = string(w)
	}
	last := len(list) - 1
	return fmt.Sprintf("%s or %s", strings.Join(list[:last], ", "), list[last])
}

func (c choiceFlag[T]) String() string {
	if c.into == nil {
		return ""
	}
	return string(*c.into)
}

func (c choiceFlag[T]) Type() string { return "string" }
