package typescript

// helpers name parts of the Database type shortly: Tables<"users">, or Tables<{ schema: "other" }, "users">.
const helpers = `type DefaultSchema = DatabaseWithoutInternals[DefaultSchemaName]

type SchemaOption = { schema: keyof DatabaseWithoutInternals }

type Relations<S extends keyof DatabaseWithoutInternals> =
  DatabaseWithoutInternals[S]["Tables"] & DatabaseWithoutInternals[S]["Views"]

type Part<
  S extends keyof DatabaseWithoutInternals,
  Kind extends "Relations" | keyof DefaultSchema,
> = Kind extends keyof DefaultSchema
  ? DatabaseWithoutInternals[S][Kind]
  : Relations<S>

type NamesIn<
  Kind extends "Relations" | keyof DefaultSchema,
  Option,
> = Option extends { schema: infer S extends keyof DatabaseWithoutInternals }
  ? keyof Part<S, Kind>
  : never

type Named<Kind extends "Relations" | keyof DefaultSchema, Option, Name> =
  Option extends { schema: infer S extends keyof DatabaseWithoutInternals }
    ? Name extends keyof Part<S, Kind>
      ? Part<S, Kind>[Name]
      : never
    : Option extends keyof Part<DefaultSchemaName, Kind>
      ? Part<DefaultSchemaName, Kind>[Option]
      : never

export type Tables<
  NameOrOption extends keyof Relations<DefaultSchemaName> | SchemaOption,
  Name extends NamesIn<"Relations", NameOrOption> = never,
> =
  Named<"Relations", NameOrOption, Name> extends { Row: infer R } ? R : never

export type TablesInsert<
  NameOrOption extends keyof DefaultSchema["Tables"] | SchemaOption,
  Name extends NamesIn<"Tables", NameOrOption> = never,
> =
  Named<"Tables", NameOrOption, Name> extends { Insert: infer I } ? I : never

export type TablesUpdate<
  NameOrOption extends keyof DefaultSchema["Tables"] | SchemaOption,
  Name extends NamesIn<"Tables", NameOrOption> = never,
> =
  Named<"Tables", NameOrOption, Name> extends { Update: infer U } ? U : never

export type Enums<
  NameOrOption extends keyof DefaultSchema["Enums"] | SchemaOption,
  Name extends NamesIn<"Enums", NameOrOption> = never,
> = Named<"Enums", NameOrOption, Name>

export type CompositeTypes<
  NameOrOption extends keyof DefaultSchema["CompositeTypes"] | SchemaOption,
  Name extends NamesIn<"CompositeTypes", NameOrOption> = never,
> = Named<"CompositeTypes", NameOrOption, Name>
`
