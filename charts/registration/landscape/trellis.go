package landscape

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"strings"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/trellis-garden/trellis/charts/registration"
)

// trellisHome is in the metadata of each chart of Trellis.
const trellisHome = "github.com/trellis-garden/trellis"

// isTrellis tells whether a registration is one of Trellis: by its label, or, since gardener-operator does not hand labels on, by the
// chart that it deploys. Whoever mirrors charts under other names is recognized by the label only.
func isTrellis(r gardencorev1beta1.ControllerRegistration, deployment *gardencorev1.ControllerDeployment) bool {
	if r.Labels[registration.LabelPartOf] == registration.PartOf {
		return true
	}
	archive, repository := chartOf(deployment)
	if repository != nil {
		return strings.Contains(deref(repository.Ref)+deref(repository.Repository), "/"+registration.PartOf+"/charts/")
	}
	return bytes.Contains(chartMetadata(archive), []byte(trellisHome))
}

// chartOf returns the chart of a deployment, or where it is pulled from; nothing if there is none, or if its type does not say it as type helm does.
func chartOf(deployment *gardencorev1.ControllerDeployment) ([]byte, *gardencorev1.OCIRepository) {
	if deployment == nil {
		return nil, nil
	}
	if helm := deployment.Helm; helm != nil {
		return helm.RawChart, helm.OCIRepository
	}
	// That of type trellis has these two; what other types have is anybody's guess, and no error.
	var config struct {
		Chart         []byte                      `json:"chart"`
		OCIRepository *gardencorev1.OCIRepository `json:"ociRepository"`
	}
	if err := json.Unmarshal([]byte(deployment.Annotations[gardencorev1.MigrationControllerDeploymentProviderConfig]), &config); err != nil {
		return nil, nil
	}
	return config.Chart, config.OCIRepository
}

// installerOf is the type of a deployment, which says who installs it: helm is gardenlet's.
func installerOf(deployment *gardencorev1.ControllerDeployment) string {
	if custom := deployment.Annotations[gardencorev1.MigrationControllerDeploymentType]; deployment.Helm == nil && custom != "" {
		return custom
	}
	return gardencorev1beta1.ControllerDeploymentTypeHelm
}

// chartMetadata returns the beginning of the first file of a chart, Chart.yaml by Helm's custom; nothing if it is no chart.
func chartMetadata(archive []byte) []byte {
	zipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil
	}
	files := tar.NewReader(zipped)
	if _, err := files.Next(); err != nil {
		return nil
	}
	const enough = 64 << 10
	content, err := io.ReadAll(io.LimitReader(files, enough))
	if err != nil {
		return nil
	}
	return content
}
