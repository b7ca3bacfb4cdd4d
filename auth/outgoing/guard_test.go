package outgoing

import (
	"errors"
	"net/netip"
	"testing"
)

func TestGuardCheck(t *testing.T) {
	own := Guard{Allow: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd12::/16")}}
	for _, test := range []struct {
		name    string
		address string
		reached bool
	}{
		{"a public address", "93.184.216.34", true},
		{"a public address of IPv6", "2606:2800:220:1:248:1893:25c8:1946", true},
		{"a public address mapped into IPv6", "::ffff:93.184.216.34", true},
		{"a public address behind NAT64", "64:ff9b::5db8:d822", true},
		{"a neighbour of the private networks", "172.32.0.1", true},
		{"a neighbour of carriers' networks", "100.128.0.1", true},
		{"a neighbour of the link-local network", "169.253.0.1", true},
		{"an own network", "10.1.2.3", true},
		{"an own network mapped into IPv6", "::ffff:10.1.2.3", true},
		{"an own unique local network", "fd12::1", true},

		{"loopback", "127.0.0.1", false},
		{"any other loopback", "127.255.255.254", false},
		{"loopback of IPv6", "::1", false},
		{"loopback mapped into IPv6", "::ffff:127.0.0.1", false},
		{"loopback in its compatible form", "::127.0.0.1", false},
		{"loopback behind NAT64", "64:ff9b::7f00:1", false},
		{"loopback behind 6to4", "2002:7f00:1::1", false},
		{"loopback behind ISATAP", "2606:2800::5efe:7f00:1", false},
		{"no address", "0.0.0.0", false},
		{"this network", "0.1.2.3", false},
		{"no address of IPv6", "::", false},
		{"private 10/8", "10.0.0.1", false},
		{"private 172.16/12", "172.31.255.255", false},
		{"private 192.168/16", "192.168.0.1", false},
		{"private behind NAT64", "64:ff9b::c0a8:1", false},
		{"the local NAT64 prefix", "64:ff9b:1::5db8:d822", false},
		{"an own network behind 6to4", "2002:a01:203::1", false},
		{"carriers' shared space", "100.64.0.1", false},
		{"link-local", "169.254.1.1", false},
		{"link-local of IPv6", "fe80::1", false},
		{"an address with a zone", "fe80::1%eth0", false},
		{"a public address with a zone", "2606:2800::1%eth0", false},
		{"site-local, given up", "fec0::1", false},
		{"unique local", "fc00::1", false},
		{"metadata of AWS, GCP, Azure", "169.254.169.254", false},
		{"metadata of AWS over IPv6", "fd00:ec2::254", false},
		{"metadata of Alibaba", "100.100.100.200", false},
		{"metadata of Oracle", "192.0.0.192", false},
		{"Azure's wire server", "168.63.129.16", false},
		{"multicast", "224.0.0.1", false},
		{"multicast of IPv6", "ff02::1", false},
		{"reserved", "240.0.0.1", false},
		{"broadcast", "255.255.255.255", false},
		{"benchmarks", "198.19.0.1", false},
		{"documentation 1", "192.0.2.1", false},
		{"documentation 2", "198.51.100.1", false},
		{"documentation 3", "203.0.113.1", false},
		{"documentation of IPv6", "2001:db8::1", false},
		{"newer documentation of IPv6", "3fff::1", false},
		{"Teredo", "2001::1", false},
		{"6to4 relays", "192.88.99.1", false},
		{"discard", "100::1", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			address := netip.MustParseAddr(test.address)
			err := own.Check(address)
			var denied *DeniedError
			switch {
			case test.reached && err != nil:
				t.Errorf("%s is refused: %v", address, err)
			case !test.reached && !errors.As(err, &denied):
				t.Errorf("%s is reached", address)
			}
			if plain := own.CheckPlain(address) == nil; plain != own.own(address) {
				t.Errorf("by plain http %s reached: %v", address, plain)
			}
		})
	}
}
