//go:build zz

package e2e

import (
	_ "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	_ "github.com/gardener/gardener/pkg/component/extensions/crds"
	_ "github.com/gardener/gardener/pkg/component/extensions/infrastructure"
	_ "github.com/gardener/gardener/pkg/extensions"
	_ "github.com/stretchr/testify/require"
	_ "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	_ "github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	_ "github.com/trellis-garden/trellis/internal/contract"
	_ "golang.org/x/term"
	_ "sigs.k8s.io/controller-runtime/pkg/envtest"
	_ "sigs.k8s.io/yaml"
)
