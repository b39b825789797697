package gardener

import (
	"context"
	"fmt"
	"os"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

const (
	// DNS is the type of seeds' DNSRecords, MachineImage that of shoots' OperatingSystemConfigs. Both are simulated.
	DNS          = "unit"
	MachineImage = "gardenlinux"

	// simulated is the registration of all kinds that StandIns simulates.
	simulated = "simulated"
)

// RegisterFile applies a file with a ControllerDeployment and a ControllerRegistration, and changes the values of the chart that the deployment
// contains.
func (g *Garden) RegisterFile(ctx context.Context, path string, values map[string]any) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading a registration: %w", err)
	}
	return g.Apply(ctx, content, func(object *unstructured.Unstructured) error {
		if object.GetKind() != "ControllerDeployment" {
			return nil
		}
		for name, value := range values {
			if err := unstructured.SetNestedField(object.Object, value, "helm", "values", name); err != nil {
				return err
			}
		}
		return nil
	})
}

// RegisterSimulated registers the kinds of extensions that a seed and its shoots need and that are simulated, with a chart of one ConfigMap.
func (g *Garden) RegisterSimulated(ctx context.Context) error {
	chart, err := garden.PackChart(simulated, map[string]string{"configmap.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: simulated, namespace: {{ .Release.Namespace }}}\n"})
	if err != nil {
		return fmt.Errorf("packing a chart: %w", err)
	}
	deployment := &gardencorev1.ControllerDeployment{
		ObjectMeta: metav1.ObjectMeta{Name: simulated}, Helm: &gardencorev1.HelmControllerDeployment{RawChart: chart},
	}
	if err := g.Client.Create(ctx, deployment); err != nil {
		return fmt.Errorf("creating ControllerDeployment %s: %w", simulated, err)
	}
	registration := &gardencorev1beta1.ControllerRegistration{
		ObjectMeta: metav1.ObjectMeta{Name: simulated},
		Spec: gardencorev1beta1.ControllerRegistrationSpec{
			Deployment: &gardencorev1beta1.ControllerRegistrationDeployment{DeploymentRefs: []gardencorev1beta1.DeploymentRef{{Name: simulated}}},
			Resources: []gardencorev1beta1.ControllerResource{
				{Kind: extensionsv1alpha1.DNSRecordResource, Type: DNS},
				{Kind: extensionsv1alpha1.OperatingSystemConfigResource, Type: MachineImage},
				{Kind: extensionsv1alpha1.BackupBucketResource, Type: Backup},
				{Kind: extensionsv1alpha1.BackupEntryResource, Type: Backup},
			},
		},
	}
	if err := g.Client.Create(ctx, registration); err != nil {
		return fmt.Errorf("creating ControllerRegistration %s: %w", simulated, err)
	}
	return nil
}
