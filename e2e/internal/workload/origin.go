package workload

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// origin is a Secret or ConfigMap behind a mount path.
type origin struct {
	secret, configMap string
	items             []corev1.KeyToPath
	optional          bool
}

func originsOf(volume corev1.Volume) ([]origin, error) {
	switch {
	case volume.EmptyDir != nil:
		return nil, nil
	case volume.Secret != nil:
		return []origin{{secret: volume.Secret.SecretName, items: volume.Secret.Items, optional: is(volume.Secret.Optional)}}, nil
	case volume.ConfigMap != nil:
		return []origin{{configMap: volume.ConfigMap.Name, items: volume.ConfigMap.Items, optional: is(volume.ConfigMap.Optional)}}, nil
	case volume.Projected == nil:
		return nil, fmt.Errorf("the kind of volume %s is not supported here", volume.Name)
	}
	var origins []origin
	for _, projection := range volume.Projected.Sources {
		switch {
		case projection.Secret != nil:
			origins = append(origins, origin{secret: projection.Secret.Name, items: projection.Secret.Items, optional: is(projection.Secret.Optional)})
		case projection.ConfigMap != nil:
			origins = append(origins, origin{configMap: projection.ConfigMap.Name, items: projection.ConfigMap.Items, optional: is(projection.ConfigMap.Optional)})
		default:
			return nil, fmt.Errorf("a source of volume %s is not supported here", volume.Name)
		}
	}
	return origins, nil
}

func is(value *bool) bool { return value != nil && *value }

// read returns the content by file name.
func (o origin) read(ctx context.Context, c client.Client, namespace string) (map[string][]byte, error) {
	data := map[string][]byte{}
	var err error
	if o.secret != "" {
		secret := &corev1.Secret{}
		err = c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: o.secret}, secret)
		data = secret.Data
	} else {
		configMap := &corev1.ConfigMap{}
		err = c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: o.configMap}, configMap)
		for name, text := range configMap.Data {
			data[name] = []byte(text)
		}
	}
	if err != nil {
		if o.optional && apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, err
	}
	if len(o.items) == 0 {
		return data, nil
	}
	files := map[string][]byte{}
	for _, item := range o.items {
		content, found := data[item.Key]
		if !found && !o.optional {
			return nil, fmt.Errorf("%s%s has no key %s", o.secret, o.configMap, item.Key)
		}
		if found {
			files[item.Path] = content
		}
	}
	return files, nil
}
