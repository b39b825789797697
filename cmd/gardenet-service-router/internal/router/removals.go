package router

import (
	"context"
	"errors"
	"fmt"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// tableRemoved is the type of the kernel's message that a table of nftables was removed: the subsystem, and NFT_MSG_DELTABLE.
const tableRemoved = unix.NFNL_SUBSYS_NFTABLES<<8 | unix.NFT_MSG_DELTABLE

// watchRemovals returns a channel that gets a value after tables have been removed from the kernel, whichever, and after messages of it have been lost.
func watchRemovals(ctx context.Context) (<-chan struct{}, error) {
	socket, err := nl.Subscribe(unix.NETLINK_NETFILTER, unix.NFNLGRP_NFTABLES)
	if err != nil {
		return nil, fmt.Errorf("watching tables of nftables: %w", err)
	}
	context.AfterFunc(ctx, socket.Close)
	removals := make(chan struct{}, 1)
	go func() {
		for ctx.Err() == nil {
			messages, _, err := socket.Receive()
			if err != nil && !errors.Is(err, unix.ENOBUFS) {
				return // it is closed
			}
			removed := err != nil
			for _, message := range messages {
				removed = removed || message.Header.Type == tableRemoved
			}
			if removed {
				select {
				case removals <- struct{}{}:
				default: // there is one already
				}
			}
		}
	}()
	return removals, nil
}
