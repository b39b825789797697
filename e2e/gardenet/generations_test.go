//go:build gardenet

package gardenet

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// newGeneration is the message by which the kernel tells that a transaction is in effect. The program nft ends later: the kernel has it wait until nothing uses what
// was deleted.
const newGeneration = unix.NFNL_SUBSYS_NFTABLES<<8 | unix.NFT_MSG_NEWGEN

// generations receives the times at which transactions in a network namespace were in effect, until the test ends.
func generations(t *testing.T, node *namespace) <-chan time.Time {
	var socket *nl.NetlinkSocket
	require.NoError(t, node.do(func() (err error) {
		socket, err = nl.Subscribe(unix.NETLINK_NETFILTER, unix.NFNLGRP_NFTABLES)
		return err
	}))
	times, ended := make(chan time.Time, 1), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			messages, _, err := socket.Receive()
			if err != nil {
				return
			}
			for _, message := range messages {
				if message.Header.Type == newGeneration {
					times <- time.Now()
				}
			}
		}
	}()
	t.Cleanup(func() {
		socket.Close()
		select {
		case <-ended:
		case <-times: // that nobody waited for
		}
	})
	return times
}
