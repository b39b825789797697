package apiserver

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// WaitUntilAccepted waits until an API server accepts the user of a reader, who may list pods. After its start it refuses all users until it has
// read its CA, and a manager would end at the first refusal.
func WaitUntilAccepted(ctx context.Context, reader client.Reader) error {
	for {
		err := reader.List(ctx, &corev1.PodList{}, client.Limit(1))
		if !apierrors.IsUnauthorized(err) && !apierrors.IsForbidden(err) && !utilnet.IsConnectionRefused(err) {
			if err != nil {
				return fmt.Errorf("asking the API server for pods: %w", err)
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting until the API server accepts the user: %w: %w", ctx.Err(), err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
