package docs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// installKinds creates the kinds of a garden and of a seed that pages use, without a schema: e2e/garden and e2e/admission show the same objects to Gardener's API
// server.
func installKinds(t *testing.T, config *rest.Config) {
	t.Helper()
	const core, security, operator, extensions = "core.gardener.cloud", "security.gardener.cloud", "operator.gardener.cloud", "extensions.gardener.cloud"
	_, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{
		definition(core, "Project", apiextensionsv1.ClusterScoped, "v1beta1"),
		definition(core, "CloudProfile", apiextensionsv1.ClusterScoped, "v1beta1"),
		definition(core, "Seed", apiextensionsv1.ClusterScoped, "v1beta1"),
		definition(core, "Shoot", apiextensionsv1.NamespaceScoped, "v1beta1"),
		definition(core, "BackupBucket", apiextensionsv1.ClusterScoped, "v1beta1"),
		definition(core, "BackupEntry", apiextensionsv1.NamespaceScoped, "v1beta1"),
		definition(core, "ControllerRegistration", apiextensionsv1.ClusterScoped, "v1beta1"),
		definition(core, "ControllerInstallation", apiextensionsv1.ClusterScoped, "v1beta1"),
		definition(core, "ControllerDeployment", apiextensionsv1.ClusterScoped, "v1", "v1beta1"),
		definition(security, "CredentialsBinding", apiextensionsv1.NamespaceScoped, "v1alpha1"),
		definition(extensions, "Infrastructure", apiextensionsv1.NamespaceScoped, "v1alpha1"),
		definition(extensions, "ControlPlane", apiextensionsv1.NamespaceScoped, "v1alpha1"),
		definition(extensions, "Network", apiextensionsv1.NamespaceScoped, "v1alpha1"),
		definition(extensions, "Worker", apiextensionsv1.NamespaceScoped, "v1alpha1"),
		definition(operator, "Extension", apiextensionsv1.ClusterScoped, "v1alpha1"),
	}})
	require.NoError(t, err)
}

// definition returns a kind whose objects may have any fields. The first version is stored.
func definition(group, kind string, scope apiextensionsv1.ResourceScope, versions ...string) *apiextensionsv1.CustomResourceDefinition {
	singular := strings.ToLower(kind)
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{
			Name: singular + "s." + group,
		},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: scope,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: kind, ListKind: kind + "List", Singular: singular, Plural: singular + "s"},
		},
	}
	for i, version := range versions {
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: version, Served: true, Storage: i == 0,
			Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
				Type: "object", XPreserveUnknownFields: new(true),
			}},
		})
	}
	return crd
}
