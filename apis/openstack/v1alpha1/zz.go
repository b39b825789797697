//go:build zz

package v1alpha1

import (
	_ "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/stretchr/testify/require"
	_ "k8s.io/api/core/v1"
	_ "k8s.io/apimachinery/pkg/runtime/serializer"
	_ "k8s.io/apimachinery/pkg/util/validation/field"
	_ "k8s.io/utils/ptr"
)
