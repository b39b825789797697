package nfttest

import (
	"errors"
	"fmt"
	"strings"
)

// block runs the lines of a table up to its closing brace, and returns those after it. Objects may use others that come later.
func (r *Ruleset) block(name string, lines []string) (rest []string, err error) {
	t := r.add(name)
	var later []func() error
	for len(lines) > 0 {
		line := strings.TrimSpace(lines[0])
		lines = lines[1:]
		switch line {
		case "}":
			for _, run := range later {
				if err := run(); err != nil {
					return nil, err
				}
			}
			return lines, nil
		case "":
			continue
		}
		words := strings.Fields(line)
		if len(words) != 3 || words[2] != "{" {
			return nil, fmt.Errorf("unexpected line %q", line)
		}
		var content []string
		if content, lines, err = body(lines); err != nil {
			return nil, err
		}
		run, err := t.object(words[0], words[1], content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
		later = append(later, run...)
	}
	return nil, errors.New("the closing brace is missing")
}

// body returns the lines of an object. The elements of a set are one line.
func body(lines []string) (content, rest []string, err error) {
	elements := ""
	for i, line := range lines {
		line = strings.TrimSpace(line)
		switch {
		case elements != "" || strings.HasPrefix(line, "elements = {"):
			elements += line + " "
			if strings.HasSuffix(line, "}") {
				content, elements = append(content, strings.TrimSpace(elements)), ""
			}
		case line == "}":
			return content, lines[i+1:], nil
		case line != "":
			content = append(content, line)
		}
	}
	return nil, nil, errors.New("the closing brace is missing")
}

// object creates an object of a table, and returns what has to be done when all are there.
func (t *table) object(kind, name string, content []string) (later []func() error, err error) {
	switch kind {
	case "counter":
		return nil, t.command("add", kind, name, "")
	case "set", "map":
		var declarations []string
		for _, line := range content {
			if list, found := strings.CutPrefix(line, "elements = "); found {
				later = append(later, func() error { return t.addElements(name, elements(list)) })
				continue
			}
			declarations = append(declarations, line)
		}
		return later, t.addSet(kind, name, declarations)
	case "chain":
		base := ""
		if len(content) > 0 && strings.HasPrefix(content[0], "type ") {
			base, content = content[0], content[1:]
		}
		for _, rule := range content {
			later = append(later, func() error { return t.addRule(name, rule) })
		}
		return later, t.addChain(name, base)
	}
	return nil, fmt.Errorf("unknown object %s", kind)
}

// declarations returns those in braces, which end in semicolons.
func declarations(text string) []string {
	return split(text, ";")
}

// elements returns those in braces, which have commas between them.
func elements(text string) []string {
	return split(text, ",")
}

func split(text, separator string) (parts []string) {
	for part := range strings.SplitSeq(strings.Trim(text, "{} "), separator) {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}
