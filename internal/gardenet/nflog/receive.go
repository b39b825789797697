package nflog

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// Messages and attributes of the kernel's linux/netfilter/nfnetlink_log.h.
const (
	typePacket = unix.NFNL_SUBSYS_ULOG << 8
	typeConfig = unix.NFNL_SUBSYS_ULOG<<8 | 1

	attributePayload = 9
	attributePrefix  = 10

	configCommand = 1
	configMode    = 2
	commandBind   = 1
	modePacket    = 2

	// copied is how much of a packet is needed: the headers.
	copied = 128
)

// Receive reports packets that rules log to a group in the network namespace of the process, until the context ends. It fails if another process has the group.
// Packets that come faster than report takes them are lost.
func Receive(ctx context.Context, group uint16, report func(Packet)) error {
	socket, err := nl.Subscribe(unix.NETLINK_NETFILTER)
	if err != nil {
		return fmt.Errorf("opening a netlink socket: %w", err)
	}
	defer context.AfterFunc(ctx, socket.Close)()
	defer socket.Close()
	if err := bind(socket, group); err != nil {
		return fmt.Errorf("receiving the packets of log group %d: %w", group, err)
	}
	for {
		messages, _, err := socket.Receive()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, unix.ENOBUFS): // packets were lost
			continue
		case err != nil:
			return fmt.Errorf("receiving packets: %w", err)
		}
		for i := range messages {
			if packet, ok := decode(&messages[i]); ok {
				report(packet)
			}
		}
	}
}

// bind makes the kernel send the headers of the group's packets to a socket.
func bind(socket *nl.NetlinkSocket, group uint16) error {
	mode := binary.BigEndian.AppendUint32(nil, copied)
	for _, attribute := range []*nl.RtAttr{
		nl.NewRtAttr(configCommand, []byte{commandBind}),
		nl.NewRtAttr(configMode, append(mode, modePacket, 0)),
	} {
		request := nl.NewNetlinkRequest(typeConfig, unix.NLM_F_ACK)
		request.Sockets = map[int]*nl.SocketHandle{unix.NETLINK_NETFILTER: {Socket: socket}}
		request.AddData(&nl.Nfgenmsg{Version: unix.NFNETLINK_V0, ResId: inNetworkOrder(group)})
		request.AddData(attribute)
		if _, err := request.Execute(unix.NETLINK_NETFILTER, 0); err != nil {
			return err
		}
	}
	return nil
}

func inNetworkOrder(number uint16) uint16 {
	return binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, number))
}

// decode reads a message, which is a packet of the log or something else.
func decode(message *syscall.NetlinkMessage) (packet Packet, ok bool) {
	if message.Header.Type != typePacket || len(message.Data) < nl.SizeofNfgenmsg {
		return Packet{}, false
	}
	attributes, err := nl.ParseRouteAttr(message.Data[nl.SizeofNfgenmsg:])
	if err != nil {
		return Packet{}, false
	}
	prefix := ""
	for _, attribute := range attributes {
		switch attribute.Attr.Type {
		case attributePrefix:
			prefix = string(bytes.TrimRight(attribute.Value, "\x00"))
		case attributePayload:
			packet, ok = parse(attribute.Value)
		}
	}
	packet.Prefix = prefix
	return packet, ok
}
