package chart

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"
)

// checkValues holds values against the schemas of the chart and its subcharts, as Helm does it.
func (c *Chart) checkValues(loaded *helmchart.Chart, all common.Values) error {
	values, err := all.Table("Values")
	if err != nil {
		return c.broken("it has no values: %v", err)
	}
	found, err := violations(loaded, values, "values")
	if err != nil {
		return c.broken("%v", err)
	}
	if len(found) == 0 {
		return nil
	}
	// Neither Helm nor the validator goes through maps in an order.
	slices.Sort(found)
	return c.unfit("%s", strings.Join(found, "; "))
}

// violations says them in a sentence each. An error means that a schema is none.
func violations(chart *helmchart.Chart, values map[string]any, at string) (found []string, err error) {
	if chart.Schema != nil {
		if found, err = violationsOf(chart.Schema, values, at); err != nil {
			return nil, fmt.Errorf("%s/values.schema.json: %w", chart.ChartFullPath(), err)
		}
	}
	for _, subchart := range chart.Dependencies() {
		below, there := values[subchart.Name()].(map[string]any)
		if !there {
			continue
		}
		more, err := violations(subchart, below, at+"."+subchart.Name())
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

func violationsOf(schema []byte, values map[string]any, at string) ([]string, error) {
	if err := selfContained(schema); err != nil {
		return nil, err
	}
	err := util.ValidateAgainstSingleSchema(values, schema)
	if violated := (util.JSONSchemaValidationError{}); errors.As(err, &violated) {
		return sentences(violated.Error(), at), nil
	}
	if err != nil {
		// The name is Helm's own, there is no such file.
		return nil, errors.New(strings.ReplaceAll(oneLine(err.Error()), "file:///values.schema.json", "values.schema.json"))
	}
	return nil, nil
}

// selfContained refuses a schema that refers to other documents. Helm reads them from wherever they are, files of the process included, and anew with
// each rendering: seeds that get the same revision could be judged differently.
func selfContained(schema []byte) error {
	var document any
	if err := json.Unmarshal(schema, &document); err != nil {
		return fmt.Errorf("it is no JSON: %w", err)
	}
	var own, references []string
	collect(document, &own, &references)
	slices.Sort(references)
	for _, reference := range references {
		target, _, _ := strings.Cut(reference, "#")
		if target == "" || isWellKnown(target) || strings.HasPrefix(target, "http") && slices.Contains(own, target) {
			continue
		}
		return fmt.Errorf("it refers to another document, %s, which must be made a part of it", target)
	}
	return nil
}

func collect(node any, own, references *[]string) {
	switch node := node.(type) {
	case []any:
		for _, item := range node {
			collect(item, own, references)
		}
	case map[string]any:
		for key, value := range node {
			text, isText := value.(string)
			switch {
			case !isText:
				collect(value, own, references)
			case key == "$id" || key == "id":
				*own = append(*own, strings.TrimSuffix(text, "#"))
			case slices.Contains([]string{"$ref", "$dynamicRef", "$recursiveRef", "$schema"}, key):
				*references = append(*references, text)
			}
		}
	}
}

// isWellKnown tells what is never fetched: the validator knows the drafts of the standard, and Helm takes a urn for a schema that everything fits.
func isWellKnown(target string) bool {
	return slices.ContainsFunc([]string{"http://json-schema.org/", "https://json-schema.org/", "urn:"}, func(prefix string) bool {
		return strings.HasPrefix(target, prefix)
	})
}

// violation is a line of the validator's list, with those that say why it failed.
type violation struct {
	location, reason string
	details          []violation
}

func (v violation) String() string { return v.location + ": " + v.reason }

// sentences takes the validator's list of violations apart, to which Helm gives no other access:
//
//   - at '/replicas': got string, want integer
//   - at '/image': 'anyOf' failed
//   - at '/image': got number, want string
//
// What stands further in says why the one before failed.
func sentences(list, at string) []string {
	var (
		found []violation
		lines = strings.Split(strings.Trim(list, "\n"), "\n")
	)
	for i, line := range lines {
		entry, isEntry := read(line, at)
		isGroup := i+1 < len(lines) && depth(lines[i+1]) > depth(line)
		switch {
		case !isEntry:
		case depth(line) == 0 || len(found) == 0:
			found = append(found, entry)
		case !isGroup:
			last := &found[len(found)-1]
			last.details = append(last.details, entry)
		}
	}
	var said []string
	for _, violation := range found {
		said = append(said, violation.say()...)
	}
	if len(said) == 0 {
		return []string{at + ": " + oneLine(list)}
	}
	return said
}

// say returns one sentence, or as many as there are where they have nothing in common but the place.
func (v violation) say() []string {
	var details []string
	apart := v.reason == "validation failed"
	for _, detail := range v.details {
		if detail.location == v.location && !apart {
			details = append(details, detail.reason)
		} else {
			details = append(details, detail.String())
		}
	}
	slices.Sort(details)
	details = slices.Compact(details)
	switch {
	case len(details) == 0:
		return []string{v.String()}
	case apart:
		return details
	}
	return []string{v.String() + " (" + strings.Join(details, "; ") + ")"}
}

func depth(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// read reads a line like "- at '/image/tag': got number, want string".
func read(line, at string) (entry violation, isEntry bool) {
	pointer, isEntry := strings.CutPrefix(strings.TrimLeft(line, " "), "- at '")
	end := 0
	for end < len(pointer) && pointer[end] != '\'' {
		if pointer[end] == '\\' {
			end++
		}
		end++
	}
	if !isEntry || end >= len(pointer) {
		return violation{}, false
	}
	steps := strings.NewReplacer(`\'`, `'`, `\\`, `\`).Replace(pointer[:end])
	for _, step := range strings.Split(steps, "/")[1:] {
		at += "." + strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
	}
	return violation{location: at, reason: withoutValue(inOrder(strings.TrimPrefix(pointer[end+1:], ": ")))}, true
}

// withoutValue leaves out what a value is that has not the right form: it may come from a Secret, and what is said here is there for all to read.
func withoutValue(reason string) string {
	if !strings.HasPrefix(reason, "'") {
		return reason
	}
	for _, complaint := range []string{"' does not match pattern ", "' is not valid "} {
		if at := strings.LastIndex(reason, complaint); at >= 0 {
			return "the value" + reason[at+1:]
		}
	}
	return reason
}

// inOrder brings the names of "additional properties 'b', 'a' not allowed" into one.
func inOrder(reason string) string {
	const before, after = "additional properties ", " not allowed"
	if !strings.HasPrefix(reason, before) || !strings.HasSuffix(reason, after) {
		return reason
	}
	names := strings.Split(strings.TrimSuffix(strings.TrimPrefix(reason, before), after), ", ")
	slices.Sort(names)
	return before + strings.Join(names, ", ") + after
}
