// Package chart turns archives of Helm charts into objects, as gardenlet does it, and pulls archives from OCI registries. It is the only room
// that knows Helm. It must not know what is installed where, nor any cluster: it is given bytes and values.
package chart

import (
	"encoding/json"
	"fmt"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

// Chart is a loaded chart. Rendering does not change it: it serves several seeds at once.
type Chart struct {
	name string
	// files are what the archive holds. Helm changes a chart that it renders, so each rendering makes one of its own from them.
	files []*archive.BufferedFile
}

// Release is what a chart is rendered for.
type Release struct {
	// Name and Namespace are those of the release.
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	// KubernetesVersion is that of the cluster as its API server gives it, e.g. "v1.36.3": .Capabilities.KubeVersion.
	KubernetesVersion string `json:"kubernetesVersion"`
}

// Load reads an archive as "helm package" writes it. An error is a problem.Problem (ChartInformationInvalid).
func Load(content []byte) (*Chart, error) {
	files, err := unpack(content)
	if err != nil {
		return nil, problem.New(problem.ChartInformationInvalid, fmt.Sprintf(`the chart is no archive as "helm package" writes it: %v`, err))
	}
	loaded, err := loader.LoadFiles(files)
	if err != nil {
		return nil, problem.New(problem.ChartInformationInvalid, fmt.Sprintf("the archive holds no chart that Helm can load: %s", oneLine(err.Error())))
	}
	return &Chart{name: loaded.Name() + " " + loaded.Metadata.Version, files: files}, nil
}

// Name is the chart's own, with its version: "network-controller 0.1.0".
func (c *Chart) Name() string { return c.name }

// Render returns the objects of the chart, in the order in which Helm installs them. values go over the chart's own; they are not changed.
//
// The result is that of gardener/pkg/chartrenderer: hooks (annotation helm.sh/hook), NOTES.txt, partials and what lies in crds/ are left out; a
// kubeVersion that the chart asks for does not matter; .Capabilities.APIVersions is empty, and lookup finds nothing. Objects that have no namespace
// keep none. Unlike gardenlet, a List (gardener-resource-manager does not take it apart) and a document without apiVersion, kind
// or name is not passed over in silence, two objects of one file that differ in their namespace alone both stay, and no schema is fetched from elsewhere.
//
// An error is a problem.Problem: ValuesInvalid where values don't fit the chart's schema, and names the value; ChartCannotBeRendered otherwise, and
// names the template. Its message may quote values, and be of any length: see Short. Only a KubernetesVersion that is none is another error.
func (c *Chart) Render(release Release, values map[string]any) ([]*unstructured.Unstructured, error) {
	capabilities, err := capabilities(release.KubernetesVersion)
	if err != nil {
		return nil, err
	}
	loaded, err := loader.LoadFiles(c.files)
	if err != nil {
		return nil, c.renderProblem("Helm can't load it: %v", err)
	}
	given, err := toHelmValues(values)
	if err != nil {
		return nil, c.valuesProblem("values are no JSON: %v", err)
	}
	if err := chartutil.ProcessDependencies(loaded, given); err != nil {
		return nil, c.explainDependencyError(loaded, given, err)
	}
	all, err := util.ToRenderValuesWithSchemaValidation(loaded, given, common.ReleaseOptions{
		Name: release.Name, Namespace: release.Namespace, Revision: 1, IsInstall: true,
	}, capabilities, true)
	if err != nil {
		return nil, c.explainDependencyError(loaded, given, err)
	}
	if err := c.checkValues(loaded, all); err != nil {
		return nil, err
	}
	files, err := engine.Engine{}.Render(loaded, all)
	if err != nil {
		return nil, c.renderProblem("%s", templateError(err))
	}
	return c.objects(files)
}

// capabilities are those that gardenlet gives to charts: nothing but the version of Kubernetes.
func capabilities(kubernetes string) (*common.Capabilities, error) {
	parsed, err := version.ParseSemantic(kubernetes)
	if err != nil {
		return nil, fmt.Errorf("reading the version of Kubernetes: %w", err)
	}
	minor := fmt.Sprint(parsed.Minor())
	// As an API server says it of itself (kubernetes/hack/lib/version.sh).
	if parsed.PreRelease() != "" {
		minor += "+"
	}
	return &common.Capabilities{KubeVersion: common.KubeVersion{Version: kubernetes, Major: fmt.Sprint(parsed.Major()), Minor: minor}}, nil
}

// toHelmValues copies values into the types that Helm's own reader gives: templates see them.
func toHelmValues(values map[string]any) (common.Values, error) {
	document, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	return common.ReadValues(document)
}

// explainDependencyError explains why values could not be laid over those of the chart and its subcharts. Helm has one reason for that: what is meant for a
// subchart is no object.
func (c *Chart) explainDependencyError(loaded *helmchart.Chart, given map[string]any, err error) error {
	if at, value := misplacedValue(loaded, given); at != "" {
		return c.valuesProblem("values.%s is for a subchart and must be an object, not %s", at, kindOf(value))
	}
	return c.renderProblem("its own values don't fit its subcharts: %v", err)
}

func misplacedValue(chart *helmchart.Chart, values map[string]any) (at string, value any) {
	for _, subchart := range chart.Dependencies() {
		value, there := values[subchart.Name()]
		if !there {
			continue
		}
		below, isObject := value.(map[string]any)
		if !isObject {
			return subchart.Name(), value
		}
		if at, value := misplacedValue(subchart, below); at != "" {
			return subchart.Name() + "." + at, value
		}
	}
	return "", nil
}

func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case []any:
		return "a list"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	}
	return "a number"
}

func (c *Chart) renderProblem(format string, args ...any) error {
	return problem.New(problem.ChartCannotBeRendered, "chart "+c.name+": "+fmt.Sprintf(format, args...))
}

func (c *Chart) valuesProblem(format string, args ...any) error {
	return problem.New(problem.ValuesInvalid, "chart "+c.name+": "+fmt.Sprintf(format, args...))
}
