// Package chart renders archives of Helm charts, as gardenlet does, and pulls archives from OCI registries. It is the only package that knows Helm.
// It must not know any installation or cluster: its input is bytes and values.
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

// Chart is a loaded chart. Rendering does not change it, so it is safe for concurrent use.
type Chart struct {
	name string
	// files is the content of the archive. Helm changes a chart that it renders, so each rendering loads it anew.
	files []*archive.BufferedFile
}

// Release is the release for which a chart is rendered.
type Release struct {
	// Name and Namespace are those of the release.
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	// KubernetesVersion is the version that the cluster's API server reports, e.g. "v1.36.3". Templates read it as .Capabilities.KubeVersion.
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

// Name returns the name of the chart with its version: "network-controller 0.1.0".
func (c *Chart) Name() string { return c.name }

// Render returns the objects of the chart, in the order in which Helm installs them. values are merged into the chart's own; they are not changed.
//
// The result equals that of gardener/pkg/chartrenderer: hooks (annotation helm.sh/hook), NOTES.txt, partials and files in crds/ are omitted; the
// chart's kubeVersion is ignored; .Capabilities.APIVersions is empty, and lookup finds nothing. Objects without a namespace stay without one. There
// are three differences to gardenlet: a List, which gardener-resource-manager does not expand, and a document without apiVersion, kind or name are
// errors; two objects of one file that differ only in their namespace are both kept; and remote schemas are not loaded.
//
// An error is a problem.Problem: ValuesInvalid, naming the value, if values violate the chart's schema; ChartCannotBeRendered, naming the template,
// otherwise. Its message may quote values and have any length, see Short. Only an invalid KubernetesVersion is another error.
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

// capabilities returns those that gardenlet passes to charts: only the version of Kubernetes.
func capabilities(kubernetes string) (*common.Capabilities, error) {
	parsed, err := version.ParseSemantic(kubernetes)
	if err != nil {
		return nil, fmt.Errorf("reading the version of Kubernetes: %w", err)
	}
	minor := fmt.Sprint(parsed.Minor())
	// As in kubernetes/hack/lib/version.sh.
	if parsed.PreRelease() != "" {
		minor += "+"
	}
	return &common.Capabilities{KubeVersion: common.KubeVersion{Version: kubernetes, Major: fmt.Sprint(parsed.Major()), Minor: minor}}, nil
}

// toHelmValues copies values into the types of Helm's own decoder, since templates depend on them.
func toHelmValues(values map[string]any) (common.Values, error) {
	document, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	return common.ReadValues(document)
}

// explainDependencyError explains why values could not be merged with those of the chart and its subcharts. The only reason in Helm is a value for a
// subchart that is not an object.
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
