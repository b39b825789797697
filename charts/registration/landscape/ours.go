package landscape

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"strings"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/trellis-garden/trellis/charts/registration"
)

// home is in the metadata of each chart of Trellis.
const home = "github.com/trellis-garden/trellis"

// isOurs tells whether a registration is one of Trellis: by its label, or, since gardener-operator does not hand labels on, by the
// chart that it deploys. Whoever mirrors charts under other names is recognized by the label only.
func isOurs(r gardencorev1beta1.ControllerRegistration, deployment *gardencorev1.ControllerDeployment) bool {
	switch {
	case r.Labels[registration.LabelPartOf] == registration.PartOf:
		return true
	case deployment == nil || deployment.Helm == nil:
		return false
	case deployment.Helm.OCIRepository != nil:
		repository := deployment.Helm.OCIRepository
		return strings.Contains(deref(repository.Ref)+deref(repository.Repository), "/"+registration.PartOf+"/charts/")
	default:
		return bytes.Contains(chartMetadata(deployment.Helm.RawChart), []byte(home))
	}
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
