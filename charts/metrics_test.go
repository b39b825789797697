package charts

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// nameLabel is the label in which Prometheus keeps the name of a metric.
const nameLabel = "__name__"

// knownMetrics reads docs/reference/metrics.md, which is generated from the binaries: the labels of each metric by its name, and of each series of a
// histogram.
func knownMetrics(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile("../docs/reference/metrics.md")
	require.NoError(t, err)
	known := map[string][]string{"up": nil}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([a-z]+) \\| ([^|]*) \\|").FindAllStringSubmatch(string(page), -1) {
		var names []string
		for _, label := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(row[3], -1) {
			names = append(names, label[1])
		}
		known[row[1]] = names
	}
	require.Greater(t, len(known), 40)
	return known
}

func assertQuery(t *testing.T, query string, known map[string][]string) {
	t.Helper()
	assert.NoError(t, problemOf(query, known), query)
}

// problemOf parses a query and returns an error if a metric or a label in it is unknown.
func problemOf(query string, known map[string][]string) error {
	expression, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		return err
	}
	var errs []error
	parser.Inspect(expression, func(node parser.Node, _ []parser.Node) error {
		switch node := node.(type) {
		case *parser.VectorSelector:
			errs = append(errs, problemOfSelector(node.LabelMatchers, known))
		case *parser.AggregateExpr:
			errs = append(errs, problemOfLabels(node.Grouping, node.Expr, known))
		case *parser.BinaryExpr:
			if node.VectorMatching != nil {
				matched := slices.Concat(node.VectorMatching.MatchingLabels, node.VectorMatching.Include)
				errs = append(errs, problemOfLabels(matched, node, known))
			}
		}
		return nil
	})
	return errors.Join(errs...)
}

func problemOfSelector(selector []*labels.Matcher, known map[string][]string) error {
	name := nameIn(selector)
	has, ok := labelsOf(name, known)
	if !ok {
		return fmt.Errorf("%s: there is no such metric", name)
	}
	for _, matcher := range selector {
		if matcher.Name != nameLabel && !slices.Contains(has, matcher.Name) {
			return fmt.Errorf("%s: %s has no such label", matcher.Name, name)
		}
	}
	return nil
}

// problemOfLabels returns an error if none of the metrics in an expression has one of the labels.
func problemOfLabels(names []string, expression parser.Node, known map[string][]string) error {
	var metrics, all []string
	parser.Inspect(expression, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			has, _ := labelsOf(nameIn(selector.LabelMatchers), known)
			metrics, all = append(metrics, nameIn(selector.LabelMatchers)), append(all, has...)
		}
		return nil
	})
	for _, name := range names {
		if !slices.Contains(all, name) {
			return fmt.Errorf("%s: none of %s has this label", name, strings.Join(slices.Compact(metrics), ", "))
		}
	}
	return nil
}

// labelsOf returns the labels of a series, with those that Prometheus adds.
func labelsOf(name string, known map[string][]string) ([]string, bool) {
	target := []string{"job", "namespace", "pod"}
	if has, ok := known[name]; ok {
		return slices.Concat(has, target), true
	}
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if has, ok := known[strings.TrimSuffix(name, suffix)]; ok && strings.HasSuffix(name, suffix) {
			if suffix == "_bucket" {
				target = append(target, labels.BucketLabel)
			}
			return slices.Concat(has, target), true
		}
	}
	return nil, false
}

func nameIn(selector []*labels.Matcher) string {
	for _, matcher := range selector {
		if matcher.Name == nameLabel {
			return matcher.Value
		}
	}
	return ""
}
