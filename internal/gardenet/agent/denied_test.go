package agent

import (
	"context"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestDenied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnvironment(t, node("own", 1))
		e.config.NetworkPolicy.LogDenied = 10
		e.create(pod("one", 1))
		calls := 0
		e.denied = func(ctx context.Context, report func(DeniedPacket)) error {
			if calls++; calls == 1 {
				return errAway
			}
			report(DeniedPacket{
				Direction: "ingress", Protocol: "tcp", From: netip.MustParseAddr("192.0.2.1"), FromPort: 40000, To: netip.MustParseAddr("10.96.1.1"), ToPort: 80,
			})
			<-ctx.Done()
			return nil
		}
		e.start()
		e.wait(time.Second)
		assert.Equal(t, 1, e.logged("Receiving denied packets failed"))
		assert.Zero(t, e.logged("Policies denied a packet"))
		e.wait(maxRetry)
		assert.Equal(t, 1, e.logged(`"Policies denied a packet" "direction"="ingress" "protocol"="tcp" "from"="192.0.2.1" "fromPort"=40000 "fromPod"="" "to"="10.96.1.1" "toPort"=80 "toPod"="default/one"`))
		e.stop()
		assert.Equal(t, 2, calls)
		assert.Equal(t, 1, e.logged("Receiving denied packets failed"), "the end is no failure")
	})
}

func TestDenied_Off(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnvironment(t, node("own", 1))
		e.denied = func(context.Context, func(DeniedPacket)) error { return errAway }
		e.start()
		e.wait(time.Hour)
		assert.Zero(t, e.logged("Receiving denied packets failed"))
	})
}
