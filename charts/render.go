package charts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	commonutil "helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Render returns the objects that an archive consists of for a release, in the order in which Helm installs them. It does what gardenlet
// does (gardener/pkg/chartrenderer): values go over the chart's own, are held against the chart's schema, and no cluster is asked.
//
// values is anything that is an object in JSON; nil leaves the chart's own.
func Render(archive []byte, release Release, values any) ([]*unstructured.Unstructured, error) {
	loaded, err := loader.LoadArchive(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("loading the chart: %w", err)
	}
	return render(loaded, release, values)
}

func render(loaded *chart.Chart, release Release, values any) ([]*unstructured.Unstructured, error) {
	document, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("encoding values for chart %s: %w", loaded.Name(), err)
	}
	given, err := common.ReadValues(document)
	if err != nil {
		return nil, fmt.Errorf("reading values for chart %s: %w", loaded.Name(), err)
	}
	if err := chartutil.ProcessDependencies(loaded, given); err != nil {
		return nil, fmt.Errorf("processing dependencies of chart %s: %w", loaded.Name(), err)
	}
	all, err := commonutil.ToRenderValues(loaded, given, common.ReleaseOptions{
		Name: release.Name, Namespace: release.Namespace, Revision: 1, IsInstall: true,
	}, common.DefaultCapabilities)
	if err != nil {
		return nil, fmt.Errorf("checking values for chart %s: %w", loaded.Name(), err)
	}
	files, err := new(engine.Engine).Render(loaded, all)
	if err != nil {
		return nil, fmt.Errorf("rendering chart %s: %w", loaded.Name(), err)
	}
	return objects(files)
}

// objects decodes what templates gave, files of which nothing is installed aside.
func objects(files map[string]string) ([]*unstructured.Unstructured, error) {
	for file := range files {
		if strings.HasSuffix(file, "NOTES.txt") || strings.HasPrefix(path.Base(file), "_") {
			delete(files, file)
		}
	}
	_, manifests, err := releaseutil.SortManifests(files, common.DefaultVersionSet, releaseutil.InstallOrder)
	if err != nil {
		return nil, fmt.Errorf("sorting manifests: %w", err)
	}
	var result []*unstructured.Unstructured
	for _, manifest := range manifests {
		object := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict([]byte(manifest.Content), &object.Object); err != nil {
			return nil, fmt.Errorf("decoding an object of %s: %w", manifest.Name, err)
		}
		if len(object.Object) > 0 {
			result = append(result, object)
		}
	}
	return result, nil
}
