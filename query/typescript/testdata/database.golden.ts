export type Json =
  | string
  | number
  | boolean
  | null
  | { [key: string]: Json | undefined }
  | Json[]

export type Database = {
  __InternalSupabase: {
    PostgrestVersion: "14"
  }
  public: {
    Tables: {
      badges: {
        Row: {
          number: string | null
          person: number
        }
        Insert: {
          number?: string | null
          person: number
        }
        Update: {
          number?: string | null
          person?: number
        }
        Relationships: [
          {
            foreignKeyName: "badges_person_fkey"
            columns: ["person"]
            isOneToOne: true
            referencedRelation: "people"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "badges_person_fkey"
            columns: ["person"]
            isOneToOne: true
            referencedRelation: "people_kept"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "badges_person_fkey"
            columns: ["person"]
            isOneToOne: true
            referencedRelation: "people_view"
            referencedColumns: ["id"]
          },
        ]
      }
      events: {
        Row: {
          day: string
          id: number
          person: number | null
        }
        Insert: {
          day: string
          id: number
          person?: number | null
        }
        Update: {
          day?: string
          id?: number
          person?: number | null
        }
        Relationships: [
          {
            foreignKeyName: "events_person_fkey"
            columns: ["person"]
            isOneToOne: false
            referencedRelation: "people"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "events_person_fkey"
            columns: ["person"]
            isOneToOne: false
            referencedRelation: "people_kept"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "events_person_fkey"
            columns: ["person"]
            isOneToOne: false
            referencedRelation: "people_view"
            referencedColumns: ["id"]
          },
        ]
      }
      kinds: {
        Row: {
          address: unknown
          amount: number | null
          at: string
          big: number | null
          by_default: number
          bytes: string | null
          clock: string | null
          code: string | null
          counted: number | null
          day: string | null
          doc: Json | null
          docb: NonNullable<Json>
          docs: Json[] | null
          double: number | null
          doubled: number | null
          hidden: unknown
          id: number
          key: string | null
          label: string
          labels: string[]
          life: string | null
          lives: string | null
          local: string | null
          long: string | null
          mail: string
          maybe_yes: boolean | null
          mood: Database["public"]["Enums"]["mood"] | null
          moods: Database["public"]["Enums"]["mood"][] | null
          period: string
          place: Database["public"]["CompositeTypes"]["point3"] | null
          real_: number | null
          serial: number
          shade: "dark" | "light" | null
          shades: ("dark" | "light")[] | null
          size: Database["second"]["Enums"]["size"] | null
          small: number
          spots: Database["public"]["CompositeTypes"]["point3"][] | null
          tint: Json | null
          words: unknown
          work: string
          yes: boolean
          zoned: string | null
        }
        Insert: {
          address?: unknown
          amount?: number | null
          at?: string
          big?: number | null
          by_default?: number
          bytes?: string | null
          clock?: string | null
          code?: string | null
          counted?: number | null
          day?: string | null
          doc?: Json | null
          docb: NonNullable<Json>
          docs?: Json[] | null
          double?: number | null
          doubled?: never
          hidden?: unknown
          id?: never
          key?: string | null
          label?: string
          labels: string[]
          life?: string | null
          lives?: string | null
          local?: string | null
          long?: string | null
          mail?: string
          maybe_yes?: boolean | null
          mood?: Database["public"]["Enums"]["mood"] | null
          moods?: Database["public"]["Enums"]["mood"][] | null
          period: string
          place?: Database["public"]["CompositeTypes"]["point3"] | null
          real_?: number | null
          serial?: number
          shade?: "dark" | "light" | null
          shades?: ("dark" | "light")[] | null
          size?: Database["second"]["Enums"]["size"] | null
          small?: number
          spots?: Database["public"]["CompositeTypes"]["point3"][] | null
          tint?: Json | null
          words?: unknown
          work?: string
          yes: boolean
          zoned?: string | null
        }
        Update: {
          address?: unknown
          amount?: number | null
          at?: string
          big?: number | null
          by_default?: number
          bytes?: string | null
          clock?: string | null
          code?: string | null
          counted?: number | null
          day?: string | null
          doc?: Json | null
          docb?: NonNullable<Json>
          docs?: Json[] | null
          double?: number | null
          doubled?: never
          hidden?: unknown
          id?: never
          key?: string | null
          label?: string
          labels?: string[]
          life?: string | null
          lives?: string | null
          local?: string | null
          long?: string | null
          mail?: string
          maybe_yes?: boolean | null
          mood?: Database["public"]["Enums"]["mood"] | null
          moods?: Database["public"]["Enums"]["mood"][] | null
          period?: string
          place?: Database["public"]["CompositeTypes"]["point3"] | null
          real_?: number | null
          serial?: number
          shade?: "dark" | "light" | null
          shades?: ("dark" | "light")[] | null
          size?: Database["second"]["Enums"]["size"] | null
          small?: number
          spots?: Database["public"]["CompositeTypes"]["point3"][] | null
          tint?: Json | null
          words?: unknown
          work?: string
          yes?: boolean
          zoned?: string | null
        }
        Relationships: []
      }
      "Mixed Case-1": {
        Row: {
          "a b": number
          class: string | null
          "Ärger": string | null
        }
        Insert: {
          "a b": number
          class?: string | null
          "Ärger"?: string | null
        }
        Update: {
          "a b"?: number
          class?: string | null
          "Ärger"?: string | null
        }
        Relationships: []
      }
      people: {
        Row: {
          boss: number | null
          id: number
          name: string
          badge: {
            number: string | null
            person: number
          } | null
          named_shout: string | null
          shout: string | null
          underlings: {
            boss: number | null
            id: number
            name: string
          } | null
        }
        Insert: {
          boss?: number | null
          id: number
          name: string
        }
        Update: {
          boss?: number | null
          id?: number
          name?: string
        }
        Relationships: [
          {
            foreignKeyName: "people_boss_fkey"
            columns: ["boss"]
            isOneToOne: false
            referencedRelation: "people"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "people_boss_fkey"
            columns: ["boss"]
            isOneToOne: false
            referencedRelation: "people_kept"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "people_boss_fkey"
            columns: ["boss"]
            isOneToOne: false
            referencedRelation: "people_view"
            referencedColumns: ["id"]
          },
        ]
      }
      regions: {
        Row: {
          country: string
          name: string
        }
        Insert: {
          country: string
          name: string
        }
        Update: {
          country?: string
          name?: string
        }
        Relationships: []
      }
      towns: {
        Row: {
          country: string | null
          id: number
          mayor: Database["public"]["Tables"]["people"]["Row"] | null
          region: string | null
        }
        Insert: {
          country?: string | null
          id: number
          mayor?: Database["public"]["Tables"]["people"]["Row"] | null
          region?: string | null
        }
        Update: {
          country?: string | null
          id?: number
          mayor?: Database["public"]["Tables"]["people"]["Row"] | null
          region?: string | null
        }
        Relationships: [
          {
            foreignKeyName: "towns_region"
            columns: ["country", "region"]
            isOneToOne: false
            referencedRelation: "regions"
            referencedColumns: ["country", "name"]
          },
        ]
      }
    }
    Views: {
      people_kept: {
        Row: {
          boss: number | null
          id: number | null
        }
        Relationships: [
          {
            foreignKeyName: "people_boss_fkey"
            columns: ["boss"]
            isOneToOne: false
            referencedRelation: "people"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "people_boss_fkey"
            columns: ["boss"]
            isOneToOne: false
            referencedRelation: "people_kept"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "people_boss_fkey"
            columns: ["boss"]
            isOneToOne: false
            referencedRelation: "people_view"
            referencedColumns: ["id"]
          },
        ]
      }
      people_view: {
        Row: {
          boss: number | null
          id: number | null
          loud: string | null
          name: string | null
        }
        Insert: {
          boss?: number | null
          id?: number | null
          loud?: never
          name?: string | null
        }
        Update: {
          boss?: number | null
          id?: number | null
          loud?: never
          name?: string | null
        }
        Relationships: [
          {
            foreignKeyName: "people_boss_fkey"
            columns: ["boss"]
            isOneToOne: false
            referencedRelation: "people"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "people_boss_fkey"
            columns: ["boss"]
            isOneToOne: false
            referencedRelation: "people_kept"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "people_boss_fkey"
            columns: ["boss"]
            isOneToOne: false
            referencedRelation: "people_view"
            referencedColumns: ["id"]
          },
        ]
      }
      taken: {
        Row: {
          n: number | null
        }
        Insert: {
          n?: number | null
        }
        Relationships: []
      }
      totals: {
        Row: {
          n: number | null
        }
        Relationships: []
      }
    }
    Functions: {
      add:
        | { Args: { a: number; b?: number }; Returns: number }
        | { Args: { a: string; b: string }; Returns: string }
      alike:
        | {
            Args: { a: number }
            Returns: { error: true } & "the functions public.alike cannot be told apart by the names of their arguments: rename one"
          }
        | {
            Args: { a: string }
            Returns: { error: true } & "the functions public.alike cannot be told apart by the names of their arguments: rename one"
          }
      anything: {
        Args: Record<PropertyKey, never>
        Returns: Record<string, unknown>
      }
      badge: {
        Args: { "": Database["public"]["Tables"]["people"]["Row"] }
        Returns: {
          number: string | null
          person: number
        }
        SetofOptions: {
          from: "people"
          to: "badges"
          isOneToOne: true
          isSetofReturn: true
        }
      }
      bump: {
        Args: { n: number }
        Returns: {
          n: number
        }
      }
      corner: {
        Args: Record<PropertyKey, never>
        Returns: Database["public"]["CompositeTypes"]["point3"]
        SetofOptions: {
          from: "*"
          to: "point3"
          isOneToOne: true
          isSetofReturn: false
        }
      }
      elsewhere: {
        Args: Record<PropertyKey, never>
        Returns: Database["second"]["Tables"]["letters"]["Row"][]
        SetofOptions: {
          from: "*"
          to: "letters"
          isOneToOne: false
          isSetofReturn: true
        }
      }
      everyone: {
        Args: Record<PropertyKey, never>
        Returns: {
          boss: number | null
          id: number
          name: string
        }[]
        SetofOptions: {
          from: "*"
          to: "people"
          isOneToOne: false
          isSetofReturn: true
        }
      }
      from_body: { Args: { "": Json }; Returns: Json }
      halves: {
        Args: { n: number }
        Returns: {
          high: number
          low: number
        }
      }
      ledger_rows: {
        Args: Record<PropertyKey, never>
        Returns: unknown[]
        SetofOptions: {
          from: "*"
          to: "ledger"
          isOneToOne: false
          isSetofReturn: true
        }
      }
      listed: {
        Args: { prefix: string }
        Returns: {
          id: number
          name: string
        }[]
      }
      moods: {
        Args: Record<PropertyKey, never>
        Returns: Database["public"]["Enums"]["mood"][]
      }
      named_shout: {
        Args: { person: Database["public"]["Tables"]["people"]["Row"] }
        Returns: string
      }
      nameless: {
        Args: Record<PropertyKey, never>
        Returns: {
          column1: number
          column2: number
        }
      }
      nothing: { Args: Record<PropertyKey, never>; Returns: undefined }
      one_of_them: {
        Args: Record<PropertyKey, never>
        Returns: {
          boss: number | null
          id: number
          name: string
        }
        SetofOptions: {
          from: "*"
          to: "people"
          isOneToOne: true
          isSetofReturn: true
        }
      }
      only_point: {
        Args: Record<PropertyKey, never>
        Returns: Database["public"]["CompositeTypes"]["point3"]
        SetofOptions: {
          from: "*"
          to: "point3"
          isOneToOne: true
          isSetofReturn: false
        }
      }
      places: {
        Args: {
          a_rather_long_argument: string
          another_long_argument: string
          p: Database["public"]["CompositeTypes"]["point3"]
          shades: ("dark" | "light")[]
        }
        Returns: number
      }
      shout: {
        Args: { "": Database["public"]["Tables"]["people"]["Row"] }
        Returns: { error: true } & "the function public.shout takes a row: select it as a column"
      }
      someone: {
        Args: { wanted: number }
        Returns: {
          boss: number | null
          id: number
          name: string
        }
        SetofOptions: {
          from: "*"
          to: "people"
          isOneToOne: true
          isSetofReturn: false
        }
      }
      span_multirange: { Args: Record<PropertyKey, never>; Returns: string }
      takes_defaults: { Args: Record<PropertyKey, never>; Returns: number }
      total: { Args: { numbers: number[] }; Returns: number }
      underlings: {
        Args: { "": Database["public"]["Tables"]["people"]["Row"] }
        Returns: {
          boss: number | null
          id: number
          name: string
        }[]
        SetofOptions: {
          from: "people"
          to: "people"
          isOneToOne: false
          isSetofReturn: true
        }
      }
    }
    Enums: {
      __proto__: "a"
      mood: "sad" | "ok" | "so \"so\""
    }
    CompositeTypes: {
      point3: {
        x: number | null
        y: number | null
        note: string | null
      }
    }
  }
  second: {
    Tables: {
      letters: {
        Row: {
          author: number | null
          id: number
        }
        Insert: {
          author?: number | null
          id: number
        }
        Update: {
          author?: number | null
          id?: number
        }
        Relationships: []
      }
    }
    Views: {
      [_ in never]: never
    }
    Functions: {
      [_ in never]: never
    }
    Enums: {
      size:
        | "small"
        | "a rather long label"
        | "another rather long label"
        | "the longest label of all"
    }
    CompositeTypes: {
      [_ in never]: never
    }
  }
}

type DatabaseWithoutInternals = Omit<Database, "__InternalSupabase">

type DefaultSchemaName = "public"
type DefaultSchema = DatabaseWithoutInternals[DefaultSchemaName]

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

export const Constants = {
  public: {
    Enums: {
      ["__proto__"]: ["a"],
      mood: ["sad", "ok", "so \"so\""],
    },
  },
  second: {
    Enums: {
      size: [
        "small",
        "a rather long label",
        "another rather long label",
        "the longest label of all",
      ],
    },
  },
} as const
