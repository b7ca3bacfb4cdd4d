package auth

import "github.com/google/uuid"

// authenticatorName is what people call the authenticator that made a passkey, by the id of its model (AAGUID, WebAuthn
// §6.5.2). Most do not tell, and what they tell is not proved: it is a name, nothing is decided by it.
func authenticatorName(aaguid *uuid.UUID) string {
	if aaguid == nil {
		return "Passkey"
	}
	switch aaguid.String() {
	case "fbfc3007-154e-4ecc-8c0b-6e020557d7bd":
		return "Apple Passwords"
	case "dd4ec289-e01d-41c9-bb89-70fa845d4bf2":
		return "iCloud Keychain (Managed)"
	case "ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4":
		return "Google Password Manager"
	case "adce0002-35bc-c60a-648b-0b25f1f05503":
		return "Chrome on Mac"
	case "771b48fd-d3d4-4f74-9232-fc157ab0507a":
		return "Edge on Mac"
	case "08987058-cadc-4b81-b6e1-30de50dcbe96", "9ddd1817-af5a-4672-a2b9-3e3dd95000a9", "6028b017-b1d4-4c02-b4b3-afcdafc96bb2":
		return "Windows Hello"
	case "53414d53-554e-4700-0000-000000000000":
		return "Samsung Pass"
	case "bada5566-a7aa-401f-bd96-45619a55120d":
		return "1Password"
	case "d548826e-79b4-db40-a3d8-11116f7e8349":
		return "Bitwarden"
	case "531126d6-e717-415c-9320-3d9aa6981239":
		return "Dashlane"
	case "0ea242b4-43c4-4a1b-8b17-dd6d0b6baec6":
		return "Keeper"
	case "b84e4048-15dc-4dd0-8640-f4f60813c8af":
		return "NordPass"
	case "50726f74-6f6e-5061-7373-50726f746f6e":
		return "Proton Pass"
	case "f3809540-7f14-49c1-a8b3-8f813b225541":
		return "Enpass"
	}
	return "Passkey"
}
