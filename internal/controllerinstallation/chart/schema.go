package chart

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"helm.sh/helm/v4/pkg/chart/common"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"
)

// schemaFolder is the base URL of a chart's schemas, so that the loader rejects relative references like all others.
const schemaFolder = "chart:///"

// checkValues validates values against the schemas of the chart and its subcharts, as Helm does.
func (c *Chart) checkValues(loaded *helmchart.Chart, all common.Values) error {
	values, err := all.Table("Values")
	if err != nil {
		return c.renderProblem("it has no values: %v", err)
	}
	found, err := violations(loaded, values, "values")
	if err != nil {
		return c.renderProblem("%v", err)
	}
	if len(found) == 0 {
		return nil
	}
	// Helm and the validator iterate over maps in random order.
	slices.Sort(found)
	return c.valuesProblem("%s", strings.Join(found, "; "))
}

// violations returns a sentence for each violation. An error means that the schema is invalid.
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
	compiled, err := compile(schema)
	if err != nil {
		return nil, err
	}
	err = compiled.Validate(values)
	if violated, is := errors.AsType[*jsonschema.ValidationError](err); is {
		return violationMessages(violated, at), nil
	}
	return nil, err
}

// compile reads the schema only. Helm's own check would load referenced documents from files and URLs, and quote the response. The compiler decides
// which references leave the schema, because it resolves each $id.
func compile(schema []byte) (*jsonschema.Schema, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	const location = schemaFolder + "values.schema.json"
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noRemoteLoader{})
	if err := compiler.AddResource(location, document); err != nil {
		return nil, explainSchema(err)
	}
	compiled, err := compiler.Compile(location)
	if err != nil {
		return nil, explainSchema(err)
	}
	return compiled, nil
}

// noRemoteLoader is called for each referenced document that is neither a part of the schema nor a draft of the standard, which the compiler contains.
type noRemoteLoader struct{}

var _ jsonschema.URLLoader = noRemoteLoader{}

var errRemoteSchema = errors.New("it is not a part of the schema")

// Load implements jsonschema.URLLoader. Every value is valid for a urn, as with Helm.
func (noRemoteLoader) Load(url string) (any, error) {
	if strings.HasPrefix(url, "urn:") {
		return true, nil
	}
	return nil, errRemoteSchema
}

func explainSchema(err error) error {
	if failed, is := errors.AsType[*jsonschema.LoadURLError](err); is {
		return fmt.Errorf("it refers to another document, %s, which must be made a part of it", strings.TrimPrefix(failed.URL, schemaFolder))
	}
	return errors.New(strings.ReplaceAll(oneLine(err.Error()), schemaFolder, ""))
}
