package pages

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pagedReader is an API server with as many pages of one Shoot each.
type pagedReader struct {
	client.Reader
	count, requests int
	stuck           bool
}

func (p *pagedReader) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	var listOptions client.ListOptions
	listOptions.ApplyOptions(options)
	if listOptions.Limit == 0 || listOptions.Namespace != "garden-dev" {
		return fmt.Errorf("asked for everything: %+v", listOptions)
	}
	p.requests++
	page, _ := strconv.Atoi(listOptions.Continue)
	shoots := list.(*gardencorev1beta1.ShootList)
	shoots.Items = append(shoots.Items, gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: strconv.Itoa(page)}})
	switch {
	case p.stuck:
		shoots.Continue = "1"
	case page+1 < p.count:
		shoots.Continue = strconv.Itoa(page + 1)
	}
	return nil
}

func TestEach(t *testing.T) {
	for sentence, test := range map[string]struct {
		server   *pagedReader
		stopAt   string
		seen     int
		wantText string
	}{
		"one page":                        {server: &pagedReader{count: 1}, seen: 1},
		"several pages":                   {server: &pagedReader{count: 7}, seen: 7},
		"what is looked for is found":     {server: &pagedReader{count: 7}, stopAt: "2", seen: 3},
		"a server that never ends":        {server: &pagedReader{count: 1 << 30}, seen: maxPages, wantText: "there are more than 400 pages"},
		"a server that goes round itself": {server: &pagedReader{stuck: true}, seen: 2, wantText: "the same page again and again"},
	} {
		t.Run(sentence, func(t *testing.T) {
			seen := 0
			err := Each(t.Context(), test.server, &gardencorev1beta1.ShootList{}, func(list *gardencorev1beta1.ShootList) bool {
				require.Len(t, list.Items, 1, "one page is in memory")
				seen++
				return list.Items[0].Name != test.stopAt
			}, client.InNamespace("garden-dev"))
			assert.Equal(t, test.seen, seen)
			assert.Equal(t, test.seen, test.server.requests)
			if test.wantText == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, test.wantText)
			}
		})
	}
}
